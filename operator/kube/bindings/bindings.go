package bindings

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Accepted is the only condition type of a binding.
const Accepted v1.ConditionType = "Accepted"

// Invalid is the reason of a rejected object.
const Invalid = "InvalidConfiguration"

// Workload identifies the workload of a binding.
type Workload struct {
	Resource, Namespace, Name string // Resource is plural: "prometheuses"
}

func (o Workload) is(b v1.WorkloadBinding) bool {
	return b.Name == o.Name && b.Namespace == o.Namespace && b.Resource == o.Resource && b.Group == v1.GroupName
}

// Object is a monitor or rule as in the cache.
type Object struct {
	Row             *catalog.Row
	Namespace, Name string
	Version         string // resourceVersion
	Generation      int64
	Bindings        []v1.WorkloadBinding
	// Unread is set if there may be bindings but they are not in the cache. They are left alone.
	Unread bool
}

// Change is a pending status write: Status replaces all bindings, or Steps changes some of them.
type Change struct {
	Object Object // the object to change
	Status *v1.ConfigResourceStatus
	Steps  []Operation
}

// Operation is one step of a JSON patch.
type Operation struct {
	Op    string `json:"op"` // "test", "add", "replace", "remove"
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// Bind returns the change that makes the status report whether the workload accepts the
// object, or rejects it if rejection is not nil. It returns false if the status is
// already correct, has no room for another workload, or is not read.
func Bind(obj Object, o Workload, rejection error, now metav1.Time) (Change, bool) {
	if obj.Unread {
		return Change{}, false
	}
	want := condition(obj.Generation, rejection, now)
	binding := v1.WorkloadBinding{
		Group: v1.GroupName, Resource: o.Resource, Namespace: o.Namespace, Name: o.Name, Conditions: []v1.ConfigResourceCondition{want},
	}
	at := slices.IndexFunc(obj.Bindings, o.is)
	fits := shorten(&binding, roomFor(at, obj.Bindings))
	if at < 0 && !fits || at >= 0 && same(obj.Bindings[at].Conditions, binding.Conditions[0]) {
		return Change{}, false
	}
	switch {
	case len(obj.Bindings) == 0:
		// The resourceVersion detects concurrent writes of the first binding.
		return Change{Object: obj, Status: &v1.ConfigResourceStatus{Bindings: []v1.WorkloadBinding{binding}}}, true
	case at < 0:
		return Change{Object: obj, Steps: []Operation{{Op: "add", Path: "/status/bindings/-", Value: binding}}}, true
	}
	return Change{Object: obj, Steps: append(tests(at, o),
		Operation{Op: "replace", Path: fmt.Sprintf("/status/bindings/%d/conditions", at), Value: binding.Conditions})}, true
}

const (
	// frameBytes is the size of a binding as JSON, and in managed fields, without its texts.
	frameBytes = 400
	// leastMessage is the length in bytes to which a message is shortened at most.
	leastMessage = 128
)

// sizeOf returns the approximate size of a binding in the stored object.
func sizeOf(b *v1.WorkloadBinding) int {
	n := frameBytes + 2*len(b.Name) + 2*len(b.Namespace) + len(b.Resource) + len(b.Group)
	for _, c := range b.Conditions {
		n += len(c.Reason) + len(c.Message)
	}
	return n
}

// roomFor returns how large the binding at an index may be beside the others; -1 for a new one.
func roomFor(at int, all []v1.WorkloadBinding) int {
	room := budget.BindingsBytes
	for i := range all {
		if i != at {
			room -= sizeOf(&all[i])
		}
	}
	return room
}

// shorten shortens the message of a binding with one condition. fits is false if it is still too large.
func shorten(b *v1.WorkloadBinding, room int) (fits bool) {
	message := &b.Conditions[0].Message
	if over := sizeOf(b) - room; over > 0 {
		*message = excerpt.Of(*message, max(leastMessage, len(*message)-over))
	}
	return sizeOf(b) <= room
}

// Release returns the change that removes the workload's binding, or false if there is none or it was not read.
func Release(obj Object, o Workload) (Change, bool) {
	at := slices.IndexFunc(obj.Bindings, o.is)
	if at < 0 {
		return Change{}, false
	}
	return Change{Object: obj, Steps: append(tests(at, o), Operation{Op: "remove", Path: fmt.Sprintf("/status/bindings/%d", at)})}, true
}

// tests returns the steps that verify that a binding has not moved.
func tests(at int, o Workload) []Operation {
	var out []Operation
	for _, field := range [][2]string{{"name", o.Name}, {"namespace", o.Namespace}, {"resource", o.Resource}, {"group", v1.GroupName}} {
		out = append(out, Operation{Op: "test", Path: fmt.Sprintf("/status/bindings/%d/%s", at, field[0]), Value: field[1]})
	}
	return out
}

func condition(generation int64, rejection error, now metav1.Time) v1.ConfigResourceCondition {
	out := v1.ConfigResourceCondition{Type: Accepted, Status: v1.ConditionTrue, ObservedGeneration: generation, LastTransitionTime: now}
	if rejection != nil {
		out.Status, out.Reason, out.Message = v1.ConditionFalse, Invalid, excerpt.Of(rejection.Error(), budget.MessageBytes)
	}
	return out
}

// same reports whether the conditions equal want, ignoring the transition time.
func same(have []v1.ConfigResourceCondition, want v1.ConfigResourceCondition) bool {
	if len(have) != 1 {
		return false
	}
	want.LastTransitionTime = have[0].LastTransitionTime
	return have[0] == want
}
