package stream

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// One caller does not exclude the others.
func TestStreamsOfOne(t *testing.T) {
	s := NewLimits(4, 2)
	open := func(name string) func() {
		end, err := s.Open(called(name))
		if err != nil && !apierrors.IsTooManyRequests(err) {
			t.Error(err)
		}
		return end
	}
	first, second := open("a"), open("a")
	if first == nil || second == nil || open("a") != nil {
		t.Error("not two of a")
	}
	for range 2 {
		if open("b") == nil {
			t.Error("not two of b")
		}
	}
	if open("c") != nil {
		t.Error("more than four in all")
	}
	first()
	if open("b") != nil || open("a") == nil {
		t.Error("what a has ended is not a's to open again")
	}
}

// called has the rights of a caller with a name.
type called string

// May implements [insight.Rights].
func (called) May(context.Context, string, schema.GroupResource, string) (bool, error) {
	return true, nil
}

// Name returns the name of the caller.
func (c called) Name() string { return string(c) }
