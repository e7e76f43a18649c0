package rules

import (
	"io"
	"iter"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
)

// Verdict returns the result of compiling the rule object.
func (f File) Verdict() fragments.Verdict {
	out := fragments.Verdict{Kind: v1.PrometheusRuleKind, Object: f.Object, Err: f.Err, Dropped: f.Dropped, Remarks: f.Remarks}
	if f.Err == nil {
		out.File, out.Text = f.FileName, content{f.Compiled}
	}
	return out
}

// Verdicts returns the results of all rule objects.
func (fs Files) Verdicts() iter.Seq[fragments.Verdict] {
	return func(yield func(fragments.Verdict) bool) {
		for _, f := range fs {
			if !yield(f.Verdict()) {
				return
			}
		}
	}
}

// content implements io.WriterTo.
type content struct{ *Compiled }

func (c content) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, c.Text())
	return int64(n), err
}
