package nearmiss

import limits "github.com/firekeeper-dev/firekeeper/operator/api/budget"

// matchPairs is the cost of a Service and pods that it selects, in pairs: the index keeps them.
const matchPairs = 10

// spend counts pairs of objects that are compared.
func (v *View) spend(pairs int) { v.compared.Add(int64(pairs)) }

// Crowded reports whether so many monitors, Services and pods select each other that hints about them are left out: their
// cost is the product of the numbers of all three. Hints about permissions, and about one object alone, remain.
func (v *View) Crowded() bool { return v.compared.Load() > limits.ObjectPairs }
