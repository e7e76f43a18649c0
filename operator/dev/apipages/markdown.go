package main

import (
	"fmt"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// sharedPage documents the types that several kinds use.
const sharedPage = "shared.md"

const head = "<!-- Written by internal/tools/generate.sh from the Go types. Do not edit. -->\n\n"

// build returns the pages, keyed by file name.
func build(source string) (map[string]string, error) {
	m, err := newModel(source)
	if err != nil {
		return nil, err
	}
	out := map[string]string{"README.md": m.index(), sharedPage: m.shared()}
	for _, crd := range m.kinds {
		out[pageOf(crd.Spec.Names.Kind)] = m.kindPage(crd)
	}
	return out, nil
}

func pageOf(kind string) string { return strings.ToLower(kind) + ".md" }

// index returns the page that lists the kinds.
func (m *model) index() string {
	var b strings.Builder
	b.WriteString(head + "# API reference\n\n")
	b.WriteString("The kinds of the group `monitoring.coreos.com`. A page lists the fields of a kind; objects and values that\n" +
		"several kinds use are on the page [shared](" + sharedPage + "). Types of Kubernetes itself are named only.\n\n")
	b.WriteString("| Kind | Versions | What it is |\n|---|---|---|\n")
	for _, crd := range m.kinds {
		var versions []string
		for _, v := range crd.Spec.Versions {
			versions = append(versions, v.Name)
		}
		kind := crd.Spec.Names.Kind
		fmt.Fprintf(&b, "| [%s](%s) | %s | %s |\n", kind, pageOf(kind), strings.Join(versions, ", "), cell(firstSentence(m.rootDoc(crd, versions[0]))))
	}
	return b.String()
}

func (m *model) rootDoc(crd *apiextensionsv1.CustomResourceDefinition, version string) string {
	return m.comments[key(m.roots[crd.Spec.Names.Kind+"/"+version])]
}

// kindPage returns the page of a kind, with a section for each version.
func (m *model) kindPage(crd *apiextensionsv1.CustomResourceDefinition) string {
	var b strings.Builder
	names := crd.Spec.Names
	fmt.Fprintf(&b, "%s# %s\n\n%s\n\n", head, names.Kind, m.rootDoc(crd, crd.Spec.Versions[0].Name))
	fmt.Fprintf(&b, "Resource `%s.%s`, short name `%s`, category `%s`.\n", names.Plural, crd.Spec.Group,
		strings.Join(names.ShortNames, "`, `"), strings.Join(names.Categories, "`, `"))
	for _, v := range crd.Spec.Versions {
		id := names.Kind + "/" + v.Name
		fmt.Fprintf(&b, "\n## Version %s\n", v.Name)
		if v.Storage && len(crd.Spec.Versions) > 1 {
			b.WriteString("\nThis is the stored version.\n")
		}
		m.objectsIn(&b, func(o *object) bool { return o.Kinds[id] && len(o.Kinds) == 1 })
	}
	return b.String()
}

func (m *model) shared() string {
	var b strings.Builder
	b.WriteString(head + "# Shared objects and values\n")
	m.objectsIn(&b, func(o *object) bool { return len(o.Kinds) > 1 })
	return b.String()
}

// objectsIn writes the chosen structs, specs and statuses first, followed by the chosen scalar types.
func (m *model) objectsIn(b *strings.Builder, chosen func(*object) bool) {
	var structs, values []*object
	for _, o := range m.objects {
		switch {
		case !chosen(o):
		case o.Type.Kind() == reflect.Struct:
			structs = append(structs, o)
		default:
			values = append(values, o)
		}
	}
	rank := func(o *object) string {
		switch {
		case slices.Contains(o.Paths, "spec"):
			return "0" + title(o.Type)
		case slices.Contains(o.Paths, "status"):
			return "1" + title(o.Type)
		}
		return "2" + strings.ToLower(title(o.Type)) + title(o.Type)
	}
	order := func(a, b *object) int { return strings.Compare(rank(a), rank(b)) }
	slices.SortFunc(structs, order)
	slices.SortFunc(values, order)
	for _, o := range structs {
		m.structure(b, o)
	}
	for _, o := range values {
		fmt.Fprintf(b, "\n### %s\n\n%s\n", title(o.Type), paragraphs(o.Doc, "A value of type "+o.Schema.Type+"."))
		if limits := limits(o.Schema); len(limits) > 0 {
			fmt.Fprintf(b, "\nType %s; %s.\n", o.Schema.Type, strings.Join(limits, "; "))
		}
	}
}

// structure writes one struct with the table of its fields.
func (m *model) structure(b *strings.Builder, o *object) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n", title(o.Type), paragraphs(o.Doc, ""))
	if len(o.Kinds) == 1 {
		fmt.Fprintf(b, "\nFound at %s.\n", places(o.Paths))
	} else {
		fmt.Fprintf(b, "\nUsed by %s.\n", strings.Join(slices.Sorted(maps.Keys(o.Kinds)), ", "))
	}
	if len(o.Schema.XValidations) > 0 {
		b.WriteString("\nRules:\n\n")
		for _, rule := range o.Schema.XValidations {
			fmt.Fprintf(b, "- %s: `%s`\n", rule.Message, rule.Rule)
		}
	}
	b.WriteString("\n| Field | Type | | Description |\n|---|---|---|---|\n")
	for _, f := range o.Fields {
		var notes []string
		if f.Required {
			notes = append(notes, "required")
		}
		notes = append(notes, limits(fieldLimits(f))...)
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", f.Name, m.typeText(f.Type, f.Schema, o), cell(strings.Join(notes, "<br>")), cell(text(f.Schema.Description)))
	}
}

// fieldLimits returns the limits of a field without those documented with its type.
func fieldLimits(f field) *schema {
	s := *f.Schema
	t := f.Type
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case ours(t):
		s = schema{Default: s.Default}
	case t.Kind() == reflect.Slice && ours(t.Elem()):
		s.Items = nil
	}
	return &s
}

// typeText returns the type of a field, with a link to its documentation.
func (m *model) typeText(t reflect.Type, s *schema, from *object) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case ours(t):
		return m.link(t, from)
	case s.XIntOrString && t.Name() == "Quantity":
		return "quantity"
	case s.XIntOrString:
		return "integer or string"
	case t.Kind() == reflect.Slice && s.Items != nil:
		return "list of " + m.typeText(t.Elem(), s.Items.Schema, from)
	case t.Kind() == reflect.Map && s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return "map of " + m.typeText(t.Elem(), s.AdditionalProperties.Schema, from)
	case s.Type == "":
		return "any"
	case t.Kind() == reflect.Struct && s.Type == "object":
		return "Kubernetes " + t.Name()
	case s.Format == "date-time":
		return "time"
	default:
		return s.Type
	}
}

func (m *model) link(t reflect.Type, from *object) string {
	o := m.objects[t]
	page := ""
	if len(o.Kinds) > 1 && len(from.Kinds) == 1 {
		page = sharedPage
	}
	return fmt.Sprintf("[%s](%s#%s)", t.Name(), page, anchor(title(t)))
}

// title returns the heading of a type, with the version except for v1, because versions share type names.
func title(t reflect.Type) string {
	if version := path.Base(t.PkgPath()); version != "v1" {
		return t.Name() + " (" + version + ")"
	}
	return t.Name()
}

var notInAnchor = regexp.MustCompile(`[^a-z0-9 -]`)

// anchor returns the anchor that GitHub generates for a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// limits describes the validation of a value: default, enum, pattern and bounds.
func limits(s *schema) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if s.Default != nil {
		add("default `%s`", strings.Trim(string(s.Default.Raw), `"`))
	}
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			values = append(values, "`"+string(v.Raw)+"`")
		}
		add("one of %s", strings.ReplaceAll(strings.Join(values, ", "), `"`, ""))
	}
	if s.Pattern != "" && !s.XIntOrString {
		add("pattern `%s`", s.Pattern)
	}
	for _, bound := range []struct {
		text  string
		value *int64
	}{
		{"at least %d character", s.MinLength}, {"at most %d character", s.MaxLength},
		{"at least %d item", s.MinItems}, {"at most %d item", s.MaxItems},
	} {
		switch {
		case bound.value == nil:
		case *bound.value == 1:
			add(bound.text, 1)
		default:
			add(bound.text+"s", *bound.value)
		}
	}
	if s.Minimum != nil {
		add("at least %g", *s.Minimum)
	}
	if s.Maximum != nil {
		add("at most %g", *s.Maximum)
	}
	switch {
	case s.XListType == nil || *s.XListType == "atomic":
	case *s.XListType == "set":
		add("no item twice")
	default:
		add("no two items with the same `%s`", strings.Join(s.XListMapKeys, "`, `"))
	}
	if s.Items != nil && s.Items.Schema != nil && s.Items.Schema.Type == "string" {
		for _, limit := range limits(s.Items.Schema) {
			add("each %s", limit)
		}
	}
	return out
}

// text returns a description as a single line.
func text(description string) string { return strings.Join(strings.Fields(description), " ") }

// cell escapes text for a table cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func paragraphs(doc, otherwise string) string {
	if doc == "" {
		return otherwise
	}
	return doc
}

// places lists the paths where an object occurs, a few of them if there are many.
func places(paths []string) string {
	const most = 4
	rest := ""
	if len(paths) > most {
		rest = fmt.Sprintf(" and %d more places", len(paths)-most)
		paths = paths[:most]
	}
	return "`" + strings.Join(paths, "`, `") + "`" + rest
}

func firstSentence(doc string) string {
	if i := strings.Index(doc, ". "); i >= 0 {
		return doc[:i+1]
	}
	return doc
}
