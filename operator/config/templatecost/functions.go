package templatecost

import (
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

const (
	// dateGrowth is the growth of the layout of a time: Jan becomes September.
	dateGrowth = 10
	// verbGrowth is the growth of an argument of printf, which may be quoted or written in Go syntax.
	verbGrowth = 12
	// otherGrowth is the growth for functions of later versions of Alertmanager.
	otherGrowth = 16
	// instructionBytes is the memory of a compiled instruction of a regular expression.
	instructionBytes = 32
	// queryBytes is the cost of a query, as time.
	queryBytes = 16 << 10
	// garbage is the number of bytes that a function may produce for later use in the time in which one is written.
	garbage = 4
)

// function returns the result of a function for arguments of these sizes, and spends the time that it takes.
type function func(e *execution, args []*value) *value

// text returns a function that returns text.
//
// growth: the maximum length of the text in multiples of the length of the arguments. more: in addition.
func text(growth, more int) function {
	return func(e *execution, args []*value) *value {
		return e.produced(textOf(plus(times(sum(args), growth), more)))
	}
}

// fixed returns a function with the same result for all arguments.
func fixed(v *value) function {
	return func(*execution, []*value) *value { return v }
}

// builtins are the functions of package text/template.
var builtins = map[string]function{
	"eq": boolean, "ne": boolean, "lt": boolean, "le": boolean, "gt": boolean, "ge": boolean, "not": boolean,
	"print": text(1, 0), "println": text(1, 0), "html": text(5, 0), "js": text(6, 0), "urlquery": text(3, 0),
	"and": anyOf, "or": anyOf, "slice": argument(0), "index": element, "printf": printf,
	"len": func(_ *execution, args []*value) *value { return numberOf(most(args).count) },
}

// notificationFunctions are the template functions of Alertmanager. The output of toJson is not escaped again when it is printed.
var notificationFunctions = map[string]function{
	"toUpper": text(3, 0), "toLower": text(3, 0), "title": text(6, 0), "trimSpace": text(1, 0), "safeHtml": text(1, 0), "safeUrl": text(1, 0),
	"urlUnescape": text(3, 0), "toJson": text(2, 0), "humanizeDuration": text(0, shortText), "date": text(dateGrowth, shortText),
	"now": fixed(moment), "tz": fixed(moment), "since": fixed(endless), "list": list, "stringSlice": list, "append": appended, "dict": dict,
	"join": join, "match": match, "reReplaceAll": match,
}

// alertFunctions are the template functions of Prometheus and Thanos Ruler.
var alertFunctions = map[string]function{
	"toUpper": text(3, 0), "toLower": text(3, 0), "title": text(6, 0), "safeHtml": text(1, 0), "stripPort": text(1, 2), "stripDomain": text(1, 2),
	"humanize": text(0, shortText), "humanize1024": text(0, shortText), "humanizeDuration": text(0, shortText), "humanizePercentage": text(0, shortText),
	"humanizeTimestamp": text(0, shortText), "graphLink": text(3, urlText), "tableLink": text(3, urlText), "urlQueryEscape": text(3, 0),
	"externalURL": text(0, urlText), "pathPrefix": text(0, urlText), "now": text(0, shortText), "parseDuration": text(0, shortText),
	"toTime": fixed(moment), "toDuration": fixed(endless), "args": dict, "sortByLabel": argument(1), "first": element,
	"label":    func(_ *execution, args []*value) *value { return most(args).field("Labels").element() },
	"strvalue": func(_ *execution, args []*value) *value { return most(args).field("Labels").element() },
	"value":    func(_ *execution, args []*value) *value { return most(args).field("Value") },
	"match":    match, "reReplaceAll": match,
	"query": func(e *execution, _ []*value) *value {
		e.spend(queryBytes)
		return e.language.series
	},
}

// produced counts a text that a function or method returns.
func (e *execution) produced(v *value) *value {
	e.spend(v.bytes / garbage)
	if v.bytes > e.limit {
		e.fail(ErrExceeded)
	}
	return v
}

func boolean(*execution, []*value) *value { return textOf(len("false")) }

// anyOf returns a value that may be any of the arguments.
func anyOf(_ *execution, args []*value) *value { return most(args) }

// argument returns a function that returns an argument, or a part of it.
func argument(i int) function {
	return func(_ *execution, args []*value) *value {
		if i < len(args) {
			return args[i]
		}
		return &value{}
	}
}

func sum(args []*value) (n int) {
	for _, a := range args {
		n = plus(n, a.bytes+1) // and a space
	}
	return n
}

func most(args []*value) *value {
	var out *value
	for _, a := range args {
		out = either(out, a)
	}
	return either(out, &value{})
}

// element returns an element of a list or map of the first argument, as deep as there are other arguments, at least one.
func element(_ *execution, args []*value) *value {
	if len(args) == 0 {
		return &value{}
	}
	v := args[0].element()
	for i := 2; i < len(args); i++ {
		v = v.element()
	}
	return v
}

func list(_ *execution, args []*value) *value {
	v := &value{bytes: plus(sum(args), shortText), count: len(args)}
	for _, a := range args {
		v.elem, v.depth = either(v.elem, a), max(v.depth, a.depth+1)
	}
	return v
}

func appended(e *execution, args []*value) *value {
	if len(args) == 0 {
		return &value{}
	}
	v, all := list(e, args[1:]), args[0]
	v.bytes, v.count = plus(v.bytes, all.bytes), plus(v.count, all.count)
	v.elem, v.depth = either(v.elem, all.elem), max(v.depth, all.depth)
	return v
}

func dict(e *execution, args []*value) *value {
	v := list(e, args)
	v.other = v.elem
	return v
}

func join(e *execution, args []*value) *value {
	if len(args) != 2 {
		return &value{}
	}
	return e.produced(textOf(plus(args[1].bytes, times(args[0].bytes, args[1].count))))
}

// widest is the largest width that package fmt accepts.
const widest = 1_000_000

// printf returns the result of printf.
func printf(e *execution, args []*value) *value {
	if len(args) == 0 {
		return &value{}
	}
	if args[0].text == nil {
		e.fail(ErrFormat)
		return &value{}
	}
	format, args := *args[0].text, args[1:]
	bytes := len(format)
	format = strings.ReplaceAll(format, "%%", "")
	for i := 0; ; i++ {
		_, after, found := strings.Cut(format, "%")
		if !found {
			rest := args[min(i, len(args)):] // is written at the end, with its types
			return e.produced(textOf(plus(bytes, times(sum(rest), verbGrowth)+len(rest)*shortText)))
		}
		verb := strings.TrimLeft(after, "+-# 0123456789.*[]")
		flags := after[:len(after)-len(verb)]
		bytes = plus(bytes, plus(widths(flags), verbBytes(flags, verb, args, i)))
		format = verb
	}
}

// verbBytes returns the length of the output of a verb: that of the argument at its position, unless its flags specify
// another one.
func verbBytes(flags, verb string, args []*value, i int) int {
	growth := verbGrowth
	if flags == "" && verb != "" && strings.Contains("svd", verb[:1]) {
		growth = 1
	}
	switch {
	case strings.ContainsAny(flags, "*["):
		return times(sum(args), growth)
	case i >= len(args):
		return shortText
	case growth == 1 || args[i].numeric:
		return args[i].bytes
	}
	return plus(times(args[i].bytes, growth), shortText)
}

// widths returns the sum of width and precision of a verb.
func widths(flags string) (n int) {
	n = times(strings.Count(flags, "*"), widest)
	for _, digits := range strings.FieldsFunc(flags, func(r rune) bool { return r < '0' || r > '9' }) {
		if width, err := strconv.Atoi(digits); err == nil {
			n = plus(n, min(width, widest))
		}
	}
	return n
}

// match returns the result of match or reReplaceAll, the only functions with regular expressions.
func match(e *execution, args []*value) *value {
	if len(args) < 2 {
		return &value{}
	}
	if args[0].text == nil {
		e.fail(ErrPattern)
		return &value{}
	}
	re, err := regexcost.Parse(*args[0].text)
	if regexcost.IsTooMuch(err) {
		e.fail(err)
	}
	if err != nil {
		return &value{} // an error of the template
	}
	text := args[len(args)-1]
	e.matching(re, text)
	if len(args) < 3 {
		return textOf(len("false"))
	}
	return e.produced(textOf(plus(text.bytes, times(text.bytes+1, args[1].bytes))))
}

// matching spends the time of compiling and matching.
func (e *execution) matching(re *syntax.Regexp, text *value) {
	size := regexcost.Of(re)
	e.spend(plus(times(size, instructionBytes), times(size, text.bytes)/16))
}
