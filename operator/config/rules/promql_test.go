package rules

import (
	"math/rand/v2"
	"strings"
)

// promql generates random expressions with every construct of the language.
type promql struct{ *rand.Rand }

func (p promql) one(of ...string) string { return pick(p.Rand, of) }

func (p promql) expr(depth int) string {
	if depth == 0 {
		return p.one(p.selector(), p.selector(), p.number())
	}
	d := depth - 1
	switch p.IntN(12) {
	case 0:
		return "(" + p.expr(d) + ")"
	case 1:
		return p.one("-", "+") + p.expr(d)
	case 2:
		return p.number()
	case 3, 4:
		return p.expr(d) + " " + p.operator() + " " + p.expr(d)
	case 5:
		return p.aggregation(d)
	case 6, 7:
		return p.one("rate", "increase", "max_over_time", "absent_over_time", "changes", "mad_over_time", "last_over_time") +
			"(" + p.matrix(d) + ")"
	case 8:
		return p.one("abs", "absent", "scalar", "sort", "round", "ceil", "sgn", "timestamp", "histogram_avg", "exp", "deg") + "(" + p.expr(d) + ")"
	case 9:
		return p.one(
			`label_replace(`+p.expr(d)+`, "namespace", "$1", "job", "(.*)\\.x")`,
			`histogram_quantile(`+p.number()+`, `+p.expr(d)+`)`,
			`clamp(`+p.expr(d)+`, -1, `+p.number()+`)`,
			`vector(`+p.number()+`)`, `time()`, `info(`+p.expr(d)+`, {`+p.matchers()+`})`,
			`quantile_over_time(0.5, `+p.matrix(d)+`)`, `sort_by_label(`+p.expr(d)+`, "a", 'b')`, `pi()`, `day_of_week()`,
		)
	default:
		return p.selector()
	}
}

func (p promql) number() string {
	return p.one("0", "1", "-1.5", "1e3", "0x1F", "1_000", "+Inf", "-Inf", "NaN", "5m", "1h30m", ".5", "1e-7", "12345678901234567890")
}

func (p promql) operator() string {
	op := p.one("+", "-", "*", "/", "%", "^", "atan2", "==", "!=", ">", "<=", "> bool", "== bool", "and", "or", "unless")
	set := op == "and" || op == "or" || op == "unless"
	if p.IntN(3) > 0 {
		return op
	}
	op += " " + p.one("on", "ignoring") + " (" + p.labels() + ")"
	if set {
		return op
	}
	switch p.IntN(4) {
	case 0:
		op += " " + p.one("group_left", "group_right") + p.one("", " ()", " (zone)", ` ("z.one")`)
	case 1:
		op += " " + p.one("fill (0)", "fill_left (1.5) fill_right (-2)", "fill_right (NaN)", "fill (Inf)", "fill (1e-9)")
	}
	return op
}

func (p promql) labels() string {
	return p.one("", "job", "job, instance", `"a.b", job`, "namespace", "by", "on")
}

func (p promql) aggregation(d int) string {
	op := p.one("sum", "avg", "group", "stddev", "topk", "quantile", "count_values", "limitk", "limit_ratio")
	arg := p.expr(d)
	switch op {
	case "topk", "quantile", "limitk", "limit_ratio":
		arg = p.one("1", "0.5", "scalar("+p.selector()+")") + ", " + arg
	case "count_values":
		arg = `"namespace", ` + arg
	}
	by := p.one("by", "without") + " (" + p.labels() + ")"
	return p.one(op+"("+arg+")", op+" "+by+" ("+arg+")", op+"("+arg+") "+by)
}

func (p promql) name() string {
	return p.one("up", "http_requests_total", "a:b:c", "sum", "offset_x", "job", "start")
}

func (p promql) matchers() string {
	var out []string
	for range p.IntN(4) {
		out = append(out, p.one("namespace", "job", "mode", `"k8s.ns"`, "__name__", "on", `"job"`)+p.one("=", "!=", "=~", "!~")+
			p.one(`"x"`, `''`, "`a\\d+`", `"a|b.*"`, `"é\"\n"`, `".+"`))
	}
	return strings.Join(out, ",")
}

func (p promql) vector() string {
	return p.one(p.name(), p.name()+"{"+p.matchers()+"}", "{"+p.matchers()+"}", `{"a.b",`+p.matchers()+"}", `{"up"}`)
}

func (p promql) selector() string { return p.vector() + p.modifiers() }

func (p promql) modifiers() string {
	out := ""
	if p.IntN(5) == 0 {
		out += " " + p.one("anchored", "smoothed")
	}
	at := p.one("", "", "", " @ 1700000000", " @ start()", " @ end()", " @ -1.5", " @ 0.0004")
	offset := p.one("", "", "", " offset 5m", " offset -1h30m", " offset 1m*2", " offset -(1m)", " offset step()", " offset 90", " offset 0s")
	return out + p.one(at+offset, offset+at)
}

func (p promql) duration() string {
	return p.one("5m", "1h30m", "90s", "300", "1d", "5m*2", "step()", "max_of(1m, step() + 2s)", "-(-1m)", "(5m+1h)/2", "range()", "1w2d", "2^3")
}

func (p promql) matrix(d int) string {
	if d > 0 && p.IntN(3) == 0 {
		return p.one("("+p.expr(d)+")", p.selector(), "rate("+p.matrix(d-1)+")") +
			"[" + p.duration() + ":" + p.one("", p.duration()) + "]" + strings.NewReplacer(" anchored", "", " smoothed", "").Replace(p.modifiers())
	}
	return p.vector() + "[" + p.duration() + "]" + p.modifiers()
}
