package adversary

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/hostile"
	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/shrink"
)

// minimise searches for a minimal set of manifests for each finding, within a time limit, and writes them next to the
// finding.
func (r *runner) minimise(ctx context.Context) error {
	end := time.Now().Add(r.Minimise)
	for i, f := range r.findings.list() {
		if len(f.Objects) == 0 || ctx.Err() != nil {
			continue
		}
		fails := func(objects []hostile.Manifest) bool {
			return time.Now().Before(end) && ctx.Err() == nil && r.again(ctx, f, objects)
		}
		if !fails(f.Objects) {
			r.say("finding %d does not happen again with its %d objects alone", i+1, len(f.Objects))
			continue
		}
		small := shrink.List(f.Objects, fails)
		for at := range small {
			small[at] = shrink.Value(small[at], func(o map[string]any) bool {
				try := append(append(append([]hostile.Manifest{}, small[:at]...), o), small[at+1:]...)
				return fails(try)
			})
		}
		f.Objects = small
		r.say("finding %d happens with %d objects", i+1, len(small))
		if err := r.findings.saveAs(fmt.Sprintf("%03d-%s-small.yaml", i+1, f.Kind), &f); err != nil {
			return err
		}
	}
	return nil
}

// patience is how long a trial waits for the finding to occur again.
const patience = 20 * time.Second

// again creates some objects, reports whether the same kind of finding occurs, and deletes them.
func (r *runner) again(ctx context.Context, f Finding, objects []hostile.Manifest) bool {
	r.findings.divert(true)
	defer r.findings.divert(false)
	for _, o := range objects {
		if path := r.anyPath(o); path != "" {
			_, _ = r.attacker.send(ctx, http.MethodPost, path, o) // objects that are rejected do not matter
		}
	}
	defer func() {
		for _, o := range objects {
			if path := r.anyPath(o); path != "" {
				_ = r.w.user.Delete().AbsPath(path + "/" + nameOf(o)).Do(context.WithoutCancel(ctx)).Error() // it may not exist
			}
		}
	}()
	switch f.Kind {
	case Ended:
		_ = r.k.restart(ctx, f.Process) // a failed start is detected below
		settled, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		mark := fmt.Sprint("t", time.Now().UnixNano(), "x")
		if r.tenant.write(settled, 0, mark) == nil {
			_ = r.tenant.arrived(settled, 0, mark) // fails if the process has exited
		}
		_ = r.k.revive(ctx)
	case NotLoaded:
		settled, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		mark := fmt.Sprint("t", time.Now().UnixNano(), "x")
		if r.tenant.write(settled, 0, mark) == nil {
			_ = r.tenant.arrived(settled, 0, mark)
		}
		r.checker.loads(ctx)
	case NotReported:
		bound := r.checker.w.Bound
		r.checker.w.Bound = patience
		_ = r.checker.reported(ctx, nil) // the finding is detected below
		r.checker.w.Bound = bound
	default:
		return false
	}
	return r.findings.diverted(f.Kind)
}

// anyPath returns the API path at which an object or a Secret of the hostile user is created.
func (r *runner) anyPath(m hostile.Manifest) string {
	kind, _ := m["kind"].(string)
	if kind == "Secret" {
		return "/api/v1/namespaces/" + hostileNS + "/secrets"
	}
	if row := catalog.Of(kind); row != nil {
		return pathOf(m, row.Resource, "")
	}
	return ""
}

func (f *findings) saveAs(name string, one *Finding) error {
	text, err := one.manifest()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o644)
}

// divert turns trial mode on or off, in which findings are not added to the result.
func (f *findings) divert(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trial = nil
	if on {
		f.trial = map[Kind]bool{}
	}
}

func (f *findings) diverted(kind Kind) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.trial[kind]
}
