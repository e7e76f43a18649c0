package insight_test

import (
	"context"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Find implements [preview.Finder].
func (f found) Find(_ context.Context, jobs []targets.Job, w *preview.Workload) (out []targets.Found, notes []string, err error) {
	for i := range jobs {
		out = append(out, f.objects.Find(&jobs[i], w.Namespace))
	}
	return out, nil, nil
}
