package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// rowsOf is a fake with many rows.
type rowsOf struct {
	*fake
	targets *insight.Targets
}

func (r rowsOf) Targets(_ context.Context, _ access.Rights, _ insight.TargetQuery) (*insight.Targets, error) {
	return r.targets, nil
}

// BenchmarkTargets measures the cost of a request apart from its response: permission, limits,
// JSON, entity tag, compression.
func BenchmarkTargets(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		for _, mode := range []string{Open, Authenticated} {
			b.Run(fmt.Sprintf("%s/rows=%d", mode, n), func(b *testing.B) {
				h := New(Options{Mode: mode})
				api := newAPIServer(b)
				connect(b, h, api)
				all := make([]preview.Target, n)
				for i := range all {
					all[i] = oneTarget
				}
				h.Answer(rowsOf{newFake(), &insight.Targets{Items: all}})
				mux := http.NewServeMux()
				h.Register(mux)
				b.ReportAllocs()
				for b.Loop() {
					r := httptest.NewRequest("GET", prometheusPath+"/targets?limit=1000", nil)
					r.Header.Set("Authorization", "Bearer reader")
					r.Header.Set("Accept-Encoding", "gzip")
					w := httptest.NewRecorder()
					mux.ServeHTTP(w, r)
					if w.Code != 200 {
						b.Fatal(w.Body)
					}
				}
			})
		}
	}
}
