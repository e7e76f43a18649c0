package prometheus

import (
	"crypto/sha256"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unique"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/document"
	"github.com/firekeeper-dev/firekeeper/operator/fragment"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/rules"
)

// compileMonitors adds the selected objects of one kind, compiled.
func compileMonitors[T informer.Object](g *gatherer, in *Inputs, kind string, objects []T, s *promconfig.Settings,
	compile func(T, *promconfig.Settings, assets.Reader) promconfig.Fragment,
) {
	out := recalledOr(objects, func(m T) (*CompiledMonitor, bool) {
		f, ok := g.monitors.find(kind, m)
		return f, ok && f.Err == nil && (len(f.Deps) == 0 || g.current(f.Deps))
	}, func(m T) *CompiledMonitor {
		return g.compilers.Monitors.Get(s.Key(), idOf(kind, m), g.current, func() (*CompiledMonitor, bool) {
			f := compile(m, s, g.cluster.References)
			piece := document.NewPiece(kind+"/"+m.GetNamespace()+"/"+m.GetName(), f.YAML)
			f.YAML = nil
			return &CompiledMonitor{Fragment: f, Piece: piece}, !assets.IsTemporary(f.Err)
		})
	})
	in.Monitors = slices.Grow(in.Monitors, len(objects))
	for i, m := range objects {
		g.monitors.note(kind, m, out[i])
		in.addMonitor(kind, m, out[i])
	}
}

// compileRules returns the rule objects, compiled.
func (g *gatherer) compileRules(objects []*v1.PrometheusRule, key string, s rules.Settings) []*CompiledRule {
	const kind = v1.PrometheusRuleKind
	out := recalledOr(objects, func(r *v1.PrometheusRule) (*CompiledRule, bool) {
		return g.ruleFiles.find(kind, r)
	}, func(r *v1.PrometheusRule) *CompiledRule {
		return g.compilers.Rules.Get(key, idOf(kind, r), nil, func() (*CompiledRule, bool) {
			f := rules.Compile(r, s)
			text := unique.Make(f.Content)
			f.Content = text.Value()
			return &CompiledRule{Fragment: f, Sum: sha256.Sum256([]byte(f.Content)), text: text}, true
		})
	})
	for i, r := range objects {
		g.ruleFiles.note(kind, r, out[i])
	}
	return out
}

func idOf(kind string, m informer.Object) fragment.ID {
	return fragment.ID{Kind: kind, Namespace: m.GetNamespace(), Name: m.GetName(), UID: m.GetUID(), Generation: m.GetGeneration()}
}

// recalledOr returns what each object was compiled to: from memory, in order, and
// the rest compiled.
func recalledOr[T, F any](objects []T, recall func(T) (F, bool), compile func(T) F) []F {
	out := make([]F, len(objects))
	var missing []int
	for i, o := range objects {
		var ok bool
		if out[i], ok = recall(o); !ok {
			missing = append(missing, i)
		}
	}
	spread(len(missing), func(i int) { out[missing[i]] = compile(objects[missing[i]]) })
	return out
}

// worthSpreading is how many objects are compiled by several goroutines: the
// first reconciliation of a large owner, not the usual one.
const worthSpreading = 64

// spread calls do for 0 to n-1, on all CPUs when there are many. A panic in one
// of them is one of the caller.
func spread(n int, do func(int)) {
	if n < worthSpreading {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var failed atomic.Value
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					failed.CompareAndSwap(nil, panicked{p})
				}
			}()
			for failed.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(i)
			}
		})
	}
	wg.Wait()
	if p, ok := failed.Load().(panicked); ok {
		panic(p.value)
	}
}

type panicked struct{ value any }
