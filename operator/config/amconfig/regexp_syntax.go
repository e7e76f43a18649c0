package amconfig

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

// regexpForms lists additions to the regular expression syntax in newer versions of Go.
// Alertmanager has the syntax of the Go version that its release was built with, and a
// single invalid expression breaks the configuration of all tenants.
var regexpForms = []struct {
	form  string
	since string // the first Alertmanager release built with it
	in    func(text string, parsed *syntax.Regexp) bool
}{
	{`\p{…} with a script of Unicode 11 to 15`, "alertmanager=0.27.0", hasClass(func(name string) bool { return slices.Contains(newScripts, name) })},
	{`(?<name>…), unlike (?P<name>…),`, "alertmanager=0.28.0", func(text string, parsed *syntax.Regexp) bool {
		return strings.Contains(text, "(?<") && slices.ContainsFunc(parsed.CapNames(), func(name string) bool { return name != "" })
	}},
	{`\p{…} with a name that is neither a script nor a short category`, "alertmanager=0.29.0", hasClass(func(name string) bool {
		return unicode.Scripts[name] == nil && (unicode.Categories[name] == nil || name == "LC" || name == "Cn") && name != "Any"
	})},
}

// newScripts lists the scripts added in Go 1.13 to 1.21.
var newScripts = []string{
	"Dogra", "Gunjala_Gondi", "Hanifi_Rohingya", "Makasar", "Medefaidrin", "Old_Sogdian", "Sogdian",
	"Elymaic", "Nandinagari", "Nyiakeng_Puachue_Hmong", "Wancho",
	"Chorasmian", "Dives_Akuru", "Khitan_Small_Script", "Yezidi",
	"Cypro_Minoan", "Kawi", "Nag_Mundari", "Old_Uyghur", "Tangsa", "Toto", "Vithkuqi",
}

var classNames = lazyregexp.New(`\\[pP]\{\^?([^}]*)\}`)

func hasClass(is func(name string) bool) func(string, *syntax.Regexp) bool {
	return func(text string, _ *syntax.Regexp) bool {
		return slices.ContainsFunc(classNames.Get().FindAllStringSubmatch(text, -1), func(match []string) bool { return is(match[1]) })
	}
}

// knownSyntax rejects expressions that the target's Go version does not compile.
func (c *compiler) knownSyntax(text string, parsed *syntax.Regexp) error {
	for _, f := range regexpForms {
		if need := c.target.Needs(f.since); need != "" && f.in(text, parsed) {
			return fmt.Errorf("%s needs %s", f.form, need)
		}
	}
	return nil
}
