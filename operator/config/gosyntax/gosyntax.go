// Package gosyntax detects forms of regular expressions and templates that newer versions of Go have added. A program
// parses both with the libraries of the Go version that its release was built with, and a single text that they do not
// parse breaks the configuration of all tenants. The operator has newer libraries than most targets, so they find no
// fault in such a text.
package gosyntax

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

// form is a form that some versions of Go do not parse.
type form struct {
	what  string // human-readable
	since string // the first releases that were built with a version that does, in the form of the since tag
	in    func(text string) bool
}

// The forms of each kind, as of Go 1.26.
var (
	scripts = form{`\p{…} with a script of Unicode 11 to 15`, "2.47.0,alertmanager=0.27.0,thanos=0.33.0", hasClass(func(name string) bool { return slices.Contains(newScripts, name) })}
	classes = form{`\p{…} with a name that is neither a script nor a short category`, "3.7.0,alertmanager=0.29.0,thanos=0.40.0", hasClass(func(name string) bool {
		return unicode.Scripts[name] == nil && (unicode.Categories[name] == nil || name == "LC" || name == "Cn") && name != "Any"
	})}

	regexps   = []form{scripts, namedGroup("2.51.0,alertmanager=0.28.0,thanos=0.37.0"), classes}
	selectors = []form{scripts, namedGroup("2.53.0,thanos=0.37.0"), classes} // parsed by a copy of the library, of another age
	templates = []form{{"{{ else with … }}, unlike {{ else }}{{ with … }},", "2.55.0,alertmanager=0.28.0,thanos=0.37.0", func(text string) bool {
		return strings.Contains(text, "else") && elseWith.MatchString(text)
	}}}
)

func namedGroup(since string) form {
	return form{`(?<name>…), unlike (?P<name>…),`, since, hasNamedGroup}
}

// Regexp returns an error for a valid regular expression of a relabeling or a matcher that the target does not parse. A target
// without a version is the newest.
func Regexp(t gate.Target, text string) error { return check(t, regexps, text) }

// Selector is [Regexp] for a regular expression in PromQL.
func Selector(t gate.Target, text string) error { return check(t, selectors, text) }

// Template returns an error for a valid template that the target does not parse. A target without a version is the newest.
func Template(t gate.Target, text string) error { return check(t, templates, text) }

func check(t gate.Target, forms []form, text string) error {
	for _, f := range forms {
		if !f.in(text) {
			continue
		}
		if need := f.need(t); need != "" {
			return fmt.Errorf("%s needs %s", f.what, need)
		}
	}
	return nil
}

func (f form) need(t gate.Target) string {
	if t.Version == nil {
		return ""
	}
	return t.Needs(f.since)
}

// Lacking returns a set of bits that is equal for targets of one program that do not parse the same forms in rules.
func Lacking(t gate.Target) (set uint8) {
	for i, f := range slices.Concat(selectors, templates) {
		if f.need(t) != "" {
			set |= 1 << i
		}
	}
	return set
}

// newScripts lists the scripts added in Go 1.13 to 1.21.
var newScripts = []string{
	"Dogra", "Gunjala_Gondi", "Hanifi_Rohingya", "Makasar", "Medefaidrin", "Old_Sogdian", "Sogdian",
	"Elymaic", "Nandinagari", "Nyiakeng_Puachue_Hmong", "Wancho",
	"Chorasmian", "Dives_Akuru", "Khitan_Small_Script", "Yezidi",
	"Cypro_Minoan", "Kawi", "Nag_Mundari", "Old_Uyghur", "Tangsa", "Toto", "Vithkuqi",
}

var (
	classNames = lazyregexp.New(`\\[pP]\{\^?([^}]*)\}`)
	elseWith   = lazyregexp.New(`\{\{-?\s*else\s+with\b`)
)

func hasClass(is func(name string) bool) func(string) bool {
	return func(text string) bool {
		return (strings.Contains(text, `\p{`) || strings.Contains(text, `\P{`)) &&
			slices.ContainsFunc(classNames.Get().FindAllStringSubmatch(text, -1), func(match []string) bool { return is(match[1]) })
	}
}

// hasNamedGroup reports whether an expression has a group of the form (?<name>…).
func hasNamedGroup(text string) bool {
	if !strings.Contains(text, "(?<") {
		return false
	}
	parsed, err := syntax.Parse("(?:"+text+")", syntax.Perl) // as in the programs, whose brackets may complete the text
	return err != nil || slices.ContainsFunc(parsed.CapNames(), func(name string) bool { return name != "" })
}
