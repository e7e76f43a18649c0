package share

import "iter"

// Cost is what an object costs a server that uses the objects of all namespaces.
type Cost struct {
	Namespace, Name string // as in [Object]
	Amount          int
	LeaveOut        func(why error)
}

// Fit leaves out objects until the others cost no more than most. total is what all cost; all is used only if that is
// more. full is that of [LeaveOut].
func Fit(total, most int, full string, all iter.Seq[Cost]) []LeftOut {
	if total <= most {
		return nil
	}
	var objects []Object
	var leave []func(error)
	for c := range all {
		if c.Amount > 0 {
			objects, leave = append(objects, Object{Namespace: c.Namespace, Name: c.Name, Bytes: c.Amount}), append(leave, c.LeaveOut)
		}
	}
	return LeaveOut(objects, most, full, func(i int, why error) { leave[i](why) })
}
