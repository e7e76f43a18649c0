package sample_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/sample"
)

// Every field of every kind can be set, and equal seeds give equal objects.
func TestMaximal(t *testing.T) {
	for name, g := range generators(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := g.Maximal(rand.New(rand.NewPCG(1, 0)))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d fields in %d objects", len(g.Paths()), len(objects))
			again, err := g.Maximal(rand.New(rand.NewPCG(1, 0)))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(objects, again) {
				t.Error("the same seed gave something else")
			}
		})
	}
}

// Sparse objects are valid too. Their fields are random, so there are many seeds.
func TestObject(t *testing.T) {
	for name, g := range generators(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(30) {
				if _, err := g.Object(rand.New(rand.NewPCG(seed, 0)), 0.2); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		})
	}
}

// generators returns one generator for each version of each kind.
func generators(t *testing.T) map[string]*sample.Generator {
	t.Helper()
	all, err := crds.Full("1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*sample.Generator{}
	for _, crd := range all {
		for _, v := range crd.Spec.Versions {
			g, err := sample.New(crd, v.Name)
			if err != nil {
				t.Fatal(err)
			}
			out[crd.Spec.Names.Kind+"/"+v.Name] = g
		}
	}
	return out
}
