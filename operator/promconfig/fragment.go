package promconfig

import (
	"maps"
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
)

// Fragment is one monitor compiled. It is immutable.
type Fragment struct {
	// YAML are the monitor's items of scrape_configs ("- job_name: …"), empty
	// when it is rejected.
	YAML []byte
	// Jobs is the number of items.
	Jobs int
	// Dropped is what the version does not know; scrape_configs[i] is the
	// monitor's endpoint i.
	Dropped []gate.Dropped
	// Deps are the Secrets and ConfigMaps it depends on, also when rejected.
	Deps []assets.Dependency
	// Files are TLS assets by file name, also those loaded before a rejection.
	Files map[string][]byte
	// Err is why the monitor is rejected. When assets.IsTemporary(Err) the
	// cluster could not be read: neither keep the fragment nor reject for it.
	Err error
}

// compiler turns one monitor into a fragment.
type compiler struct {
	s *Settings
	// own resolves the monitor's references, owner those of the owner.
	own, owner *resolver
}

// compile runs build and packs what it leaves behind. jobs is a slice.
func (s *Settings) compile(namespace string, r assets.Reader, build func(c *compiler) (jobs any, n int, err error)) Fragment {
	c := &compiler{s: s, own: &resolver{scope: assets.NewScope(namespace, r), dir: AssetDir}}
	c.owner = c.own
	if s.data.Namespace != "" && s.data.Namespace != namespace {
		c.owner = &resolver{scope: assets.NewScope(s.data.Namespace, r), dir: AssetDir}
	}
	var f Fragment
	jobs, n, err := build(c)
	if err == nil {
		f.YAML, f.Dropped, err = gate.AppendItems(nil, jobs, s.target, "scrape_configs")
	}
	if err == nil {
		err = checkFragmentSize(f.YAML)
	}
	if err != nil {
		f.YAML, f.Dropped, f.Err = nil, nil, err
	} else {
		f.Jobs = n
	}
	f.Deps, f.Files = c.own.scope.Dependencies(), c.own.scope.Files()
	if c.owner != c.own {
		f.Deps = mergeDependencies(f.Deps, c.owner.scope.Dependencies())
		f.Files = mergeFiles(f.Files, c.owner.scope.Files())
	}
	return f
}

func mergeDependencies(a, b []assets.Dependency) []assets.Dependency {
	out := append(slices.Clip(a), b...)
	slices.SortFunc(out, func(x, y assets.Dependency) int { return x.Ref.Compare(y.Ref) })
	return slices.CompactFunc(out, func(x, y assets.Dependency) bool { return x.Ref == y.Ref })
}

func mergeFiles(a, b map[string][]byte) map[string][]byte {
	if a == nil {
		return b
	}
	maps.Copy(a, b)
	return a
}
