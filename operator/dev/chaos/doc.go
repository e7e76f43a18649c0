// Package chaos disturbs an operator on a control plane without nodes, and compares what it reaches with what it reaches
// undisturbed.
//
// A [Scenario] is a cycle of changes that users make: after its last step, everything is as before the first. An
// operator, a process of its own, talks to the API server through a proxy (faultproxy). For each step, one undisturbed
// cycle gives the objects to reach, the writes that lead there, and how often pods, pod templates and StatefulSets are
// replaced. Then the operator is killed at each of these writes, or one of the [Faults] is applied while the change is
// made, and the same objects have to be reached, with no more replacements, while no rule file, scrape job, receiver,
// StatefulSet and claim that exists before and after is missing in between.
//
// `make chaos` runs all of it, and writes docs/reliability.md. Without FIREKEEPER_CHAOS, a part chosen by a seed is run.
package chaos
