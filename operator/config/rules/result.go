package rules

import (
	"io"
	"iter"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
)

// Result returns the result of compiling the rule object.
func (f File) Result() fragments.Result {
	out := fragments.Result{Kind: v1.PrometheusRuleKind, Object: f.Object, Err: f.Err, Dropped: f.Dropped, Remarks: f.Remarks}
	if f.Err == nil {
		out.File, out.Text = f.FileName, content{f.CompressedFragment}
	}
	return out
}

// Results returns the results of all rule objects.
func (fs Files) Results() iter.Seq[fragments.Result] {
	return func(yield func(fragments.Result) bool) {
		for _, f := range fs {
			if !yield(f.Result()) {
				return
			}
		}
	}
}

// content implements io.WriterTo.
type content struct{ *CompressedFragment }

func (c content) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(c.Text())
	return int64(n), err
}
