package rules

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	promengine "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// nested applies a function, with %s for its argument, several times.
func nested(call string, times int) string {
	out := "up"
	for range times {
		out = strings.Replace(call, "%s", out, 1)
	}
	return out
}

// A tenant exhausts the memory of the Prometheus of all tenants with one rule: it limits samples, not labels.
func TestLabelsThatGrow(t *testing.T) {
	joined := strings.Repeat(`, "a"`, 1_000)
	for name, tc := range map[string]struct {
		expr string
		want string
	}{
		"doubled":            {nested(`label_replace(%s, "a", "$1$1", "a", "(.*)")`, 40), errLabelGrowth.Error()},
		"joined with itself": {nested(`label_join(%s, "a", "", "a", "a")`, 40), errLabelGrowth.Error()},
		"many labels":        {`label_join(up, "b", ""` + joined + `)`, errLabelGrowth.Error()},
		"long separators":    {`sum by (b) (label_join(up, "b", "` + strings.Repeat("s", 1_000) + `"` + joined[:500] + `))`, errLabelGrowth.Error()},
		"a long replacement": {`label_replace(up, "b", "` + strings.Repeat("s", 100_000) + `", "", "")`, errLabelGrowth.Error()},
		"in turns":           {nested(`label_join(label_replace(%s, "b", "$1", "a", "(.*)"), ("a"), "-", "a", "b")`, 40), errLabelGrowth.Error()},
		"included labels":    {`up * on () group_left (a) ` + nested(`label_join(%s, "a", "", "a", "a")`, 9), errLabelGrowth.Error()},
		"expressions":        {`label_replace(up, "a", "$1", "b", "(\\pL{999})(\\pL{999})")`, errRegexpCost.Error()},
		"some labels":        {nested(`label_replace(%s, "a", "$1-$2", "b", "(.*)-(.*)")`, 20), ""},
		"some joined labels": {nested(`label_join(%s, "a", "/", "b", "c", "d")`, 20), ""},
		"a label rewritten":  {nested(`label_replace(%s, "a", "$1", "a", "(.*)-[0-9]+")`, 20), ""},
		"joined and divided": {`sum by (a) (label_join(up, "a", "-", "b", "c")) / on (a) group_left (b) label_replace(x, "b", "$1", "c", "(.+)")`, ""},
	} {
		f := Compile(objectOf(record("a:b", tc.expr)), settings("3.13.2"))
		if tc.want == "" && f.Err != nil || tc.want != "" && (f.Err == nil || !strings.Contains(f.Err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, f.Err, tc.want)
		}
	}
}

// Expressions that are accepted do not make more of labels than the limit, in Prometheus' own engine.
func TestLabelSizesAreAnUpperBound(t *testing.T) {
	const size = 400 // of the labels of a series, of which one has nearly all
	storage := promqltest.LoadedStorage(t, fmt.Sprintf("load 1m\n  up{a=%q,b=\"b\"} 1\n", strings.Repeat("x", size-4)))
	engine := promqltest.NewTestEngineWithOpts(t, promengine.EngineOpts{MaxSamples: 100, Timeout: time.Minute, Parser: parser.NewParser(parser.Options{})})
	r := rand.New(rand.NewPCG(1, 2))
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	var expr func(depth int) string
	expr = func(depth int) string {
		if depth == 0 {
			return "up"
		}
		switch r.IntN(6) {
		case 0, 1, 2:
			return fmt.Sprintf(`label_replace(%s, %q, %q, %q, %q)`, expr(depth-1), one("a", "b", "c"), one("$1", "$1$1", "$0$1", "${1}z$2", "$2$1"), one("a", "b", "c"), one("(.*)", "(x*)(x)(.*)", "((.*)z?)", "(.)(.*)"))
		case 3:
			return fmt.Sprintf(`label_join(%s, %q, %q, %q, %q)`, expr(depth-1), one("a", "b", "c"), one("", "-", strings.Repeat("s", growthUnit)), one("a", "b", "c"), one("a", "b"))
		case 4:
			return fmt.Sprintf(`(%s * on (__unset) group_left (c) %s)`, expr(depth-1), expr(depth-1))
		}
		return fmt.Sprintf(`(%s or %s)`, expr(depth-1), expr(depth-1))
	}
	evaluated := 0
	for range 500 {
		text := expr(1 + r.IntN(7))
		parsed, err := parser.NewParser(parser.Options{}).ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		sizes, err := new(effort).labelsOf(parsed)
		if err != nil {
			continue
		}
		query, err := engine.NewInstantQuery(context.Background(), storage, nil, text, time.Unix(60, 0))
		if err != nil {
			t.Fatal(err)
		}
		result := query.Exec(context.Background())
		vector, err := result.Vector()
		if err != nil {
			continue // several series on one side
		}
		evaluated++
		for _, sample := range vector {
			bytes := 0
			for _, value := range sample.Metric.Map() {
				bytes += len(value)
			}
			if sizes.total > budget.SeriesGrowth || bytes > sizes.total*max(size, growthUnit)+len(text) {
				t.Fatalf("%s: %d bytes, %d times %d expected", text, bytes, sizes.total, size)
			}
		}
	}
	if evaluated < 100 {
		t.Errorf("only %d were evaluated", evaluated)
	}
}
