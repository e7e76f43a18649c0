package rules

import "strings"

// simpleTemplate reports whether all actions of a template are variables, optionally with fields and piped to functions:
// {{ $labels.pod }}, {{ $value | printf "%.2f" }}. Such a template is valid if the functions exist, and its output is hardly
// longer than its text and the values. Parsing the templates of usual rules would take longer than all other work on
// them.
func simpleTemplate(text string, functions map[string]any) bool {
	for {
		_, after, found := strings.Cut(text, "{{")
		if !found {
			return true
		}
		action, rest, closed := strings.Cut(after, "}}")
		if !closed || !simpleAction(strings.Trim(action, " "), functions) {
			return false
		}
		text = rest
	}
}

func simpleAction(action string, functions map[string]any) bool {
	rest, ok := cutVariable(action)
	for ok && rest != "" {
		var piped bool
		if rest, piped = strings.CutPrefix(strings.TrimLeft(rest, " "), "|"); !piped {
			return false
		}
		rest, ok = cutCall(strings.TrimLeft(rest, " "), functions)
	}
	return ok
}

// cutVariable returns what follows a variable with fields.
func cutVariable(action string) (rest string, ok bool) {
	for _, name := range templateVariables {
		if rest, ok = strings.CutPrefix(action, name); ok {
			break
		}
	}
	for ok && strings.HasPrefix(rest, ".") {
		name := word(rest[1:])
		rest, ok = rest[1+len(name):], name != ""
	}
	return rest, ok && separated(rest)
}

// simpleFunctions are functions whose output is little longer than their input, however often they are called.
var simpleFunctions = map[string]bool{
	"humanize": true, "humanize1024": true, "humanizeDuration": true, "humanizePercentage": true, "humanizeTimestamp": true,
	"printf": true, "title": true, "toLower": true, "toUpper": true, "stripPort": true, "stripDomain": true,
}

// cutCall returns the text after a function and its arguments, which must be strings without escapes.
func cutCall(action string, functions map[string]any) (rest string, ok bool) {
	name := word(action)
	if functions[name] == nil || !simpleFunctions[name] {
		return "", false
	}
	rest = action[len(name):]
	for separated(rest) {
		argument, quoted := strings.CutPrefix(strings.TrimLeft(rest, " "), `"`)
		if !quoted {
			return rest, true
		}
		text, after, closed := strings.Cut(argument, `"`)
		if !closed || strings.ContainsAny(text, "\\\n*[") || wide(text) {
			return "", false
		}
		rest = after
	}
	return "", false
}

// separated reports whether a word ends before rest.
func separated(rest string) bool { return rest == "" || rest[0] == ' ' || rest[0] == '|' }

// word returns the identifier of ASCII letters, digits and _ at the start of a text.
func word(text string) string {
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_', '0' <= c && c <= '9' && i > 0:
		default:
			return text[:i]
		}
	}
	return text
}

// wide reports whether a text has a number of more than two digits, which may be a width.
func wide(text string) bool {
	digits := 0
	for i := range len(text) {
		if c := text[i]; '0' <= c && c <= '9' {
			digits++
		} else {
			digits = 0
		}
		if digits > 2 {
			return true
		}
	}
	return false
}
