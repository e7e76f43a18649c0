package adversary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	amconfig "github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/featurecontrol"
	"github.com/prometheus/alertmanager/matcher/compat"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/hostile"
)

// checker checks the installation after each batch.
type checker struct {
	w        *environment
	v        *written
	k        *keeper
	found    func(Finding)
	promtool string

	templates  map[string]string // pod templates at the beginning
	bindings   bool              // the operator writes status.bindings
	logs       map[string]int64  // offset up to which each log was read
	results    map[string]error  // results of the operator's checks, by UID and generation
	files      map[string]bool   // rule files that were checked, by name and content
	rejections int               // number of objects that reported a rejection
	loaded     int               // number of configurations that were loaded
	largest    int               // size of the largest configuration in bytes
}

func (w *environment) newChecker(ctx context.Context, v *written, k *keeper, found func(Finding)) (*checker, error) {
	compat.InitFromFlags(slog.New(slog.DiscardHandler), featurecontrol.NoopFlags{}) // parse label names as Alertmanager does
	c := &checker{w: w, v: v, k: k, found: found, logs: map[string]int64{}, results: map[string]error{}, files: map[string]bool{}}
	c.promtool = w.promtool
	var err error
	c.templates, err = w.templates(ctx)
	return c, err
}

// after runs all checks; alive lists the objects that should exist.
func (c *checker) after(ctx context.Context, alive []hostile.Object) error {
	c.fromLogs()
	if err := c.k.revive(ctx); err != nil {
		return err
	}
	if err := c.reported(ctx, alive); err != nil {
		return err
	}
	c.loads(ctx)
	now, err := c.w.templates(ctx)
	if err != nil {
		return err
	}
	if !maps.Equal(now, c.templates) {
		c.found(Finding{Kind: Rollout, Text: fmt.Sprintf("pod templates were %v and are %v", c.templates, now), Objects: manifestsOf(alive)})
		c.templates = now
	}
	c.fromLogs()
	return c.k.revive(ctx)
}

func manifestsOf(all []hostile.Object) (out []hostile.Manifest) {
	for _, o := range all {
		out = append(append(out, o.With...), o.Manifest)
	}
	return out
}

// fromLogs searches the logs for panics and for values of Secrets.
func (c *checker) fromLogs() {
	for _, name := range c.k.names() {
		var lines []string
		lines, c.logs[name] = brokenLines(c.w.logOf(name), c.logs[name])
		for _, line := range lines {
			kind := Fault
			if strings.Contains(line, secretCanary) {
				kind = Leaked
			}
			c.found(Finding{Kind: kind, Process: name, Text: excerpt.Of(line, 2000)})
		}
	}
}

// loads checks that the servers accept the written configurations.
func (c *checker) loads(ctx context.Context) {
	for _, t := range targets {
		got, err := c.v.complete(ctx, t)
		if err != nil {
			if ctx.Err() == nil {
				c.found(Finding{Kind: NotLoaded, Text: fmt.Sprintf("%s: %v", t.kind, err)})
			}
			continue
		}
		c.largest = max(c.largest, got.size())
		switch t.kind {
		case "Prometheus":
			err = c.syntax(ctx, got.config)
		case "Alertmanager":
			_, err = amconfig.Load(string(got.config))
		}
		c.loaded++
		if err != nil {
			c.found(Finding{Kind: NotLoaded, Text: fmt.Sprintf("%s: %v", t.kind, err)})
			name := filepath.Join(c.w.Out, fmt.Sprintf("refused-%s-%d.yaml", t.kind, time.Now().Unix()))
			_ = os.WriteFile(name, got.config, 0o644) // for debugging
		}
		c.rules(t.kind, got.rules)
	}
}

// syntax checks a configuration with promtool or, if there is none, with the Prometheus library.
func (c *checker) syntax(ctx context.Context, config []byte) error {
	if c.promtool == "" {
		return loadable(config)
	}
	path := filepath.Join(c.w.Out, "prometheus.yaml")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, c.promtool, "check", "config", "--syntax-only", path)
	cmd.Env = append(os.Environ(), "AWS_REGION=eu-west-1", "AWS_EC2_METADATA_DISABLED=true")
	if out, err := cmd.CombinedOutput(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("promtool: %w: %s", err, excerpt.Of(string(out), 2000))
	}
	return nil
}

// strategy matches a rule group field that only Thanos supports.
var strategy = regexp.MustCompile(`(?m)^ *partial_response_strategy: .*\n`)

// rules parses rule files with Prometheus' parser, each distinct content once.
func (c *checker) rules(kind string, files map[string]string) {
	for name, text := range files {
		key := fmt.Sprint(name, len(text), text[:min(len(text), 200)])
		if c.files[key] {
			continue
		}
		c.files[key] = true
		if kind == targets[2].kind {
			text = strategy.ReplaceAllString(text, "")
		}
		_, errs := rulefmt.Parse([]byte(text), false, model.UTF8Validation, parser.NewParser(parser.Options{}), nil)
		if len(errs) > 0 {
			c.found(Finding{Kind: NotLoaded, Text: fmt.Sprintf("%s: rule file %.100s: %v", kind, name, errors.Join(errs...))})
		}
	}
}

// allRows returns one row for each kind.
func allRows() []*catalog.Row {
	return slices.DeleteFunc(slices.Clone(catalog.All), func(row *catalog.Row) bool { return row == catalog.AlertmanagerConfigBeta })
}

// list lists the objects of the hostile user.
func (c *checker) list(ctx context.Context, row *catalog.Row) (out []storedObject, err error) {
	for next := ""; ; {
		path := "/apis/" + row.GroupVersion().String() + "/namespaces/" + hostileNS + "/" + row.Resource
		request := c.w.kube.Discovery().RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json").Param("limit", "100").Param("continue", next)
		raw, err := request.Timeout(time.Minute).DoRaw(ctx)
		if err != nil {
			return out, err
		}
		var page struct {
			Metadata metav1.ListMeta   `json:"metadata"`
			Items    []json.RawMessage `json:"items"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return out, err
		}
		for _, item := range page.Items {
			s, err := newStored(row, item)
			if err != nil {
				return out, err
			}
			out = append(out, s)
		}
		if next = page.Metadata.Continue; next == "" {
			return out, nil
		}
	}
}

// reported waits until every object of the user is used or reports why it is not.
func (c *checker) reported(ctx context.Context, alive []hostile.Object) error {
	var silent []string
	var objects []storedObject
	end := time.Now().Add(c.w.Bound)
	for pause := time.Second; ; pause = min(2*pause, 8*time.Second) {
		silent, objects = nil, nil
		events, err := c.events(ctx)
		if err != nil {
			return err
		}
		written := map[string]content{}
		for _, t := range targets {
			if written[t.kind], err = c.v.read(t); err != nil {
				silent = append(silent, fmt.Sprintf("%s: %v", t.kind, err))
			}
		}
		used := usesOf(written)
		for _, row := range allRows() {
			all, err := c.list(ctx, row)
			if err != nil {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				silent = append(silent, fmt.Sprintf("list %s: %v", row.Resource, err))
				continue
			}
			for _, s := range all {
				if why := c.silent(s, events, used); why != "" {
					silent, objects = append(silent, fmt.Sprintf("%s %s: %s", row.Kind, excerpt.Of(s.name, 40), why)), append(objects, s)
				}
			}
		}
		if len(silent) == 0 || time.Now().After(end) {
			break
		}
		if err := c.k.revive(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
	for i, text := range silent {
		f := Finding{Kind: NotReported, Text: text}
		if i < len(objects) && len(objects) == len(silent) {
			f.Objects = madeAs(alive, objects[i])
		}
		c.found(f)
	}
	return nil
}

// madeAs returns the manifest of a stored object, preceded by the Secrets that it refers to.
func madeAs(alive []hostile.Object, s storedObject) []hostile.Manifest {
	i := slices.IndexFunc(alive, func(o hostile.Object) bool { return nameOf(o.Manifest) == s.name })
	var m hostile.Manifest
	if err := json.Unmarshal(s.raw, &m); err != nil || i < 0 {
		return nil
	}
	return append(slices.Clone(alive[i].With), m)
}

// silent returns what is missing if an object is neither used nor reports the reason; otherwise it returns "".
func (c *checker) silent(s storedObject, events map[string]string, used uses) string {
	key := fmt.Sprintf("%s/%d", s.uid, s.generation)
	want, known := c.results[key]
	if !known {
		want = rejected(s.row, s.raw)
		c.results[key] = want
	}
	note, seen := events[s.uid]
	switch {
	case s.row.IsWorkload() && want != nil && !s.fails() && !seen:
		return fmt.Sprintf("no condition says that it cannot be run: %s", excerpt.Of(want.Error(), 300))
	case s.row.IsWorkload():
		return ""
	case c.bindings && !s.says():
		return "no result for its generation in status.bindings"
	case want != nil && !seen:
		return fmt.Sprintf("no Event says that it is rejected: %s", excerpt.Of(want.Error(), 300))
	case want == nil && !seen && !used.of(s) && !s.empty():
		return "nothing is written of it, and no Event says why"
	case seen && note == "":
		return "the Event has no reason"
	}
	if seen {
		c.rejections++
	}
	return ""
}

// events returns the notes of the Events about objects of the user, by UID.
func (c *checker) events(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	for next := ""; ; {
		list, err := c.w.kube.EventsV1().Events(hostileNS).List(ctx, metav1.ListOptions{Limit: 2000, Continue: next})
		if err != nil {
			return nil, err
		}
		for _, e := range list.Items {
			if strings.Contains(e.Note, secretCanary) || strings.Contains(e.Note, privateCanary) {
				c.found(Finding{Kind: Leaked, Text: "Event: " + e.Note})
			}
			out[string(e.Regarding.UID)] = e.Note
		}
		if next = list.Continue; next == "" {
			return out, nil
		}
	}
}
