package v1_test

import (
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

func TestFlag(t *testing.T) {
	for arg, want := range map[v1.Argument][2]string{
		{Name: "a", Value: "b"}:   {"a", "b"},
		{Name: "a"}:               {"a", ""},
		{Name: "a=b"}:             {"a", "b"},
		{Name: "a=b", Value: "c"}: {"a", "b=c"},
		{Name: "a", Value: "b=c"}: {"a", "b=c"},
	} {
		name, value := arg.Flag()
		if got := [2]string{name, value}; got != want {
			t.Errorf("%+v: %q, want %q", arg, got, want)
		}
	}
}
