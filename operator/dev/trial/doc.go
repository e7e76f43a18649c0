// Package trial is the harness of tests that disturb an operator from outside: an [Environment], which is a control plane without
// nodes, an [Operator], a process that reaches it through a proxy (faultproxy), a [Mirror] that compares what it writes
// and notices what is missing for a while, and any other [Process].
package trial
