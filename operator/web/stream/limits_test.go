package stream

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// One caller does not exclude the others.
func TestStreamsOfOne(t *testing.T) {
	s := NewLimits(8, 2)
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
	first()
	if open("b") != nil || open("a") == nil {
		t.Error("what a has ended is not a's to open again")
	}
}

// The callers of one group do not exclude those of other groups, even if there are many.
func TestStreamsOfAGroup(t *testing.T) {
	s := NewLimits(8, 2)
	for i := range 6 {
		end, err := s.Open(called(fmt.Sprintf("many-%d", i)))
		if (err == nil) != (i < 4) {
			t.Errorf("stream %d: %v", i, err)
		}
		if err == nil {
			defer end()
		}
	}
	if _, err := s.Open(called("other")); err != nil {
		t.Errorf("another group: %v", err)
	}
}

// called has the rights of a caller with a name.
type called string

// May implements [access.Rights].
func (called) May(context.Context, string, schema.GroupResource, string) (bool, error) {
	return true, nil
}

// Name returns the name of the caller.
func (c called) Name() string { return string(c) }

// Group returns the part of the name before the dash.
func (c called) Group() string {
	group, _, _ := strings.Cut(string(c), "-")
	return group
}
