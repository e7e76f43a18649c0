package insight_test

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// scraping is a source that records with whose rights servers are queried.
type scraping struct {
	counts
	as []access.Rights
}

func (s *scraping) CanQuery() bool { return false }

func (s *scraping) Scrapes(_ context.Context, r access.Rights, _ insight.Object, _ []preview.Target) (*insight.Scrapes, error) {
	s.as = append(s.as, r)
	return &insight.Scrapes{}, nil
}

// acting is a caller for whom servers can be queried.
type acting struct{ allowed }

func (acting) Servers(context.Context) (preview.HealthSource, func(), error) {
	panic("only the source of targets asks")
}

// Servers are queried only for callers with the permission, and the page of a workload names the missing permission. It
// does not change anything else.
func TestScrapesNeedPermission(t *testing.T) {
	s := loaded(t, []byte(selectsAll))
	source := &scraping{}
	a := answers(t, s, source)
	mainKey := types.NamespacedName{Namespace: "demo", Name: "main"}
	main := insight.Object{Row: catalog.Prometheus, NamespacedName: mainKey}
	need := "you need permission to get pods/proxy in namespace " + mainKey.Namespace
	rest := ""
	for name, tc := range map[string]struct {
		rights   access.Rights
		mayQuery bool
		why      string
		err      func(error) bool
	}{
		"with it":        {acting{allowed{"get pods/proxy " + mainKey.Namespace}}, true, "", nil},
		"everywhere":     {acting{allowed{"get pods/proxy"}}, true, "", nil},
		"without it":     {acting{allowed{"get pods", "list pods/proxy", "get pods/proxy elsewhere"}}, false, need, apierrors.IsForbidden},
		"no credentials": {allowed{"get pods/proxy"}, false, "", apierrors.IsServiceUnavailable},
		"not known":      {acting{allowed{"error"}}, false, "whether you may get pods/proxy is not known: the API server does not answer", apierrors.IsServiceUnavailable},
	} {
		source.as = nil
		about, err := a.Workload(t.Context(), tc.rights, main)
		if err != nil {
			t.Fatal(err)
		}
		if about.CanQuery != tc.mayQuery || about.QueryDenied != tc.why {
			t.Errorf("%s: asks %t, %q", name, about.CanQuery, about.QueryDenied)
		}
		if text := asJSON(t, about, nil); name != "not known" {
			if rest != "" && rest != text {
				t.Errorf("%s: other parts differ:\n%s\n%s", name, rest, text)
			}
			rest = text
		}
		_, err = a.Scrapes(t.Context(), tc.rights, main, nil)
		switch {
		case tc.err == nil:
			if err != nil || len(source.as) != 1 {
				t.Errorf("%s: asked %d times, %v", name, len(source.as), err)
			}
		case !tc.err(err) || len(source.as) > 0 || tc.why != "" && name != "not known" && !strings.Contains(err.Error(), need):
			t.Errorf("%s: asked %d times, %v", name, len(source.as), err)
		}
	}
	source.as = nil
	alerts := insight.Object{Row: catalog.Alertmanager, NamespacedName: mainKey}
	if _, err := a.Scrapes(t.Context(), acting{everything}, alerts, nil); err == nil || len(source.as) > 0 {
		t.Errorf("an Alertmanager is asked for targets: %v", err)
	}
}
