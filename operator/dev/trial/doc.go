// Package trial has what tests need that disturb an operator from outside: a [World], which is a control plane without
// nodes, an [Operator], a process that reaches it through a proxy (faultproxy), a [Mirror] that compares what it writes
// and notices what is missing for a while, and any other [Process].
package trial
