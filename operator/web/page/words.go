package page

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/routing"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

var funcs = template.FuncMap{
	"cut": cut, "num": number, "state": state, "level": levelOf, "add": func(a, b int) int { return a + b }, "join": strings.Join, "labels": labelsOf,
	"counts": ownWords, "kept": kept, "allcounts": func(c preview.Counts) string { return c.String() }, "list": func(of ...string) []string { return of },
	"summary": func(j preview.Job) string { return j.Summary() },
	"shards":  shardsOf, "on": on, "sorted": sorted,
	"anchor": anchor, "podlogs": podLogs, "hassuffix": strings.HasSuffix, "badge": badge, "clock": clock,
	"finds": finds, "revision": revision, "says": says, "requires": requires, "parts": func(s string) []string { return strings.SplitAfter(s, "/") },
	"names": func(id string, of []string) suggestions { return suggestions{id, short(of)} },
	"rows":  func(t targetsTab, b targetBlock) blockRows { return blockRows{t, b} },
	"route": func(s routing.Step, tried bool) routeRow { return routeRow{s, tried} },
}

// mark is a word with the class of its style, which also has a symbol.
type mark struct{ Class, Word string }

// classes are the classes of words. Other words are marked as unknown.
var classes = map[string]string{
	string(status.Accepted): "ok", string(targets.Kept): "ok", "True": "ok", "ready": "ok", "yes": "ok", "up": "ok", string(insight.Good): "ok",
	string(status.Rejected): "bad", string(insight.Broken): "bad", "False": "bad", "no": "bad", "down": "bad", "not ready": "bad", ownerInvalid: "bad",
	string(targets.Invalid): "bad", string(targets.OverLimit): "bad",
	string(insight.LevelOther): "off",
	string(insight.Warning):    "warn", "Degraded": "warn", string(insight.NeedsAttention): "warn", "outdated": "warn", string(targets.Forbidden): "warn", "Warning": "warn",
	string(status.NotSelected): "off", string(targets.Dropped): "off", string(targets.OtherShard): "off", string(targets.Duplicate): "off",
	string(insight.Paused): "off", "Normal": "off", "not used": "off",
}

// words are human-readable names of states.
var words = map[string]string{
	string(targets.OtherShard): "other shard", string(targets.OverLimit): "over limit",
	string(insight.NeedsAttention): "needs attention", string(insight.Unmanaged): "not managed", string(insight.Unreconciled): "not reconciled", string(insight.PodsNotKnown): "pods not known",
	string(insight.LevelOther): "paused or not known",
}

func state(of any) mark {
	word := fmt.Sprint(of)
	return mark{cmp.Or(classes[word], "unk"), cmp.Or(words[word], word)}
}

// badge returns a condition with its status.
func badge(c status.Condition) mark {
	return mark{state(c.Status).Class, head(c.Type, 60) + ": " + head(c.Status, 20)}
}

// podLogs returns the command that shows the logs of a pod.
func podLogs(namespace, name string) string {
	return "kubectl -n " + namespace + " logs " + name + " --all-containers --tail=50"
}

// anchor returns the id of a section with a name.
func anchor(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "s" + hex.EncodeToString(sum[:5])
}

// clock returns a time of day.
func clock(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }

// ownerInvalid is the state of an object in an invalid workload, which has no result on it.
const ownerInvalid = "workload invalid"

// says returns why a workload uses an object or does not.
func says(v explain.Result) string {
	if v.Reason == explain.WorkloadInvalid {
		return v.Workload.Kind + " is invalid: " + v.Message
	}
	return v.Message
}

// requires returns the requirements of a selector that an object does not meet, with the labels
// that it has; without them if the labels are unknown.
func requires(v explain.Result) (out []string) {
	for _, m := range v.Misses {
		out = append(out, m.String())
	}
	return out
}

// finds reports whether workloads of a kind have targets.
func finds(kind string) bool { return slices.Contains(scrapers, catalog.Of(kind)) }

// resultState returns the state of an object in a workload.
func resultState(v explain.Result) string {
	switch {
	case v.Accepted:
		return string(status.Accepted)
	case v.Reason == explain.Rejected:
		return string(status.Rejected)
	case v.Reason == explain.WorkloadInvalid:
		return ownerInvalid
	case v.Reason == explain.NotKnown:
		return string(status.Unknown)
	case v.Selector != "":
		return string(status.NotSelected)
	}
	return "not used"
}

// excerpt is a shortened string with a longer version of it.
type excerpt struct{ Short, More string }

// maxMore is the maximum length of a string on a page; the JSON twin has all of it.
const maxMore = 400

// cut shortens a string so that it does not break the layout.
func cut(n int, s any) excerpt {
	text := fmt.Sprint(s)
	short := head(text, n)
	if short == text {
		return excerpt{Short: text}
	}
	return excerpt{short + "…", head(text, max(n, maxMore))}
}

// revision returns the hash of a revision. The whole revision starts with the name of its workload.
func revision(s string) excerpt {
	out := cut(30, s[strings.LastIndex(s, "-")+1:])
	out.More = head(s, maxMore)
	return out
}

// head returns the longest prefix of a string that has up to n bytes when it is escaped.
func head(s string, n int) string {
	for i, r := range s {
		switch r {
		case '<', '>', '&', '"', '\'', 0:
			n -= 5
		default:
			n -= utf8.RuneLen(r)
		}
		if n < 0 {
			return s[:i]
		}
	}
	return s
}

// number formats a number with thousands separators.
func number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func ageOf(now, t time.Time) string { return duration.HumanDuration(max(0, now.Sub(t))) }

// labelsOf formats labels like Prometheus.
func labelsOf(of map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if b.Len() > maxMore {
			break
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s=%q", name, head(of[name], maxMore))
	}
	return "{" + b.String() + "}"
}

func shardsOf(of []int) string {
	var out []string
	for _, n := range of {
		out = append(out, strconv.Itoa(n))
	}
	return strings.Join(out, ", ")
}

// pair is a value with the page on which it is shown.
type pair struct {
	Page *view
	Of   any
}

func on(v *view, of any) pair { return pair{v, of} }

// blockRows is a table of a tab.
type blockRows struct {
	Tab   targetsTab
	Block targetBlock
}

// suggestions are values that a field may have.
type suggestions struct {
	ID    string
	Names []string
}

// short returns the names that are short enough to be suggested.
func short(of []string) []string {
	return slices.DeleteFunc(slices.Clone(of), func(s string) bool { return len(s) > maxName || head(s, maxName) != s })
}

// nameCount is a name with a count.
type nameCount struct {
	Name  string
	Count int
}

// sorted returns the names with the largest counts first.
func sorted(of map[string]int) (out []nameCount) {
	for name, n := range of {
		out = append(out, nameCount{name, n})
	}
	slices.SortFunc(out, func(a, b nameCount) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// first returns the first n rows of a list and the number of the others.
func first[T any](n int, of []T) (shown []T, more int) {
	n = min(n, len(of))
	return of[:n], len(of) - n
}
