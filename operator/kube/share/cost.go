package share

import (
	"fmt"
	"iter"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// Cost is what an object costs a server that uses the objects of all namespaces.
type Cost struct {
	Namespace, Name string // as in [Object]
	Amount          int
	LeaveOut        func(why error)
}

// Fit leaves out objects until the others fit into the room of a number of objects. total is the cost of all of them; all is
// used only if it exceeds the room. full is the argument of [LeaveOut] as a format, with %d for the room.
func Fit(total, number int, room budget.Room, full string, all iter.Seq[Cost]) []LeftOut {
	most := room.For(number)
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
	return LeaveOut(objects, most, fmt.Sprintf(full, most), func(i int, why error) { leave[i](why) })
}
