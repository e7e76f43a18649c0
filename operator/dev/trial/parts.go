package trial

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// partOf matches the Secrets that hold parts of a configuration.
var partOf = regexp.MustCompile(`^secrets/(.+)-config-part-(\d+)$`)

// numbered matches the numbers of parts in names of Secrets and of files.
var numbered = regexp.MustCompile(`\b(part|rules|config)-(\d+)`)

// renumbered gives the parts of each configuration the numbers 1, 2, … in their order. Which of the free numbers a part
// has depends on earlier attempts to write it.
func renumbered(s State) State {
	parts := map[string][]int{} // by Secret of the configuration
	for key := range s {
		if m := partOf.FindStringSubmatch(key); m != nil {
			n, _ := strconv.Atoi(m[2]) // only digits
			parts["secrets/"+m[1]] = append(parts["secrets/"+m[1]], n)
		}
	}
	if len(parts) == 0 {
		return s
	}
	out := maps.Clone(s)
	for main, numbers := range parts {
		slices.Sort(numbers)
		now := map[string]string{}
		for i, n := range numbers {
			now[strconv.Itoa(n)] = strconv.Itoa(i + 1)
			delete(out, main+"-config-part-"+strconv.Itoa(n))
		}
		for _, n := range numbers {
			key := main + "-config-part-" + strconv.Itoa(n)
			out[inText(key, now)] = renumber(s[key], now)
		}
		if _, ok := s[main]; ok {
			out[main] = renumber(s[main], now)
		}
	}
	return out
}

// renumber replaces numbers of parts in all keys and texts of a value.
func renumber(v any, now map[string]string) any {
	switch v := v.(type) {
	case string:
		return inText(v, now)
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			out = append(out, renumber(item, now))
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			text, ok := item.(string)
			if ok && key == wellknown.AnnotationConfigParts {
				out[key] = inList(text, now)
				continue
			}
			out[inText(key, now)] = renumber(item, now)
		}
		return out
	}
	return v
}

func inText(text string, now map[string]string) string {
	return numbered.ReplaceAllStringFunc(text, func(found string) string {
		kind, number, _ := strings.Cut(found, "-")
		if to, ok := now[number]; ok {
			return kind + "-" + to
		}
		return found
	})
}

// inList replaces the numbers of a list that commas separate.
func inList(text string, now map[string]string) string {
	numbers := strings.Split(text, ",")
	for i, n := range numbers {
		if to, ok := now[n]; ok {
			numbers[i] = to
		}
	}
	slices.Sort(numbers)
	return strings.Join(numbers, ",")
}
