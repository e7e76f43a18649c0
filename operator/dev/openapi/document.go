package main

import (
	"context"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web"
)

// document returns the OpenAPI document of the routes.
//
// Errors: the sources are not found, or the document is invalid.
func document(routes []web.Route) (*openapi3.T, error) {
	c, err := newComments()
	if err != nil {
		return nil, err
	}
	s := newSchemas(c)
	doc := &openapi3.T{
		OpenAPI: "3.0.3",
		Info:    &openapi3.Info{Title: "Firekeeper", Version: "v1", Description: "What the operator knows of the objects that it manages. Nothing can be changed through it."},
		Paths:   openapi3.NewPaths(),
		Components: &openapi3.Components{
			Schemas: s.all,
			SecuritySchemes: openapi3.SecuritySchemes{"token": &openapi3.SecuritySchemeRef{Value: &openapi3.SecurityScheme{
				Type: "http", Scheme: "bearer", Description: "A token of the cluster; not needed with --web.api=open.",
			}}},
			Responses: openapi3.ResponseBodies{"Error": &openapi3.ResponseRef{Value: openapi3.NewResponse().
				WithDescription("A Status, as an API server answers.").WithJSONSchemaRef(s.of(reflect.TypeFor[metav1.Status]()))}},
		},
		Security: openapi3.SecurityRequirements{{"token": {}}},
	}
	s.of(reflect.TypeFor[readers.Change]())
	for i := range routes {
		for n, path := range routes[i].Paths() {
			item := &openapi3.PathItem{}
			op := operation(s, &routes[i], path)
			if len(routes[i].Of) > 0 {
				op.OperationID = operationID(routes[i].Name, routes[i].Of[n].Version, routes[i].Of[n].Resource)
				op.Tags = []string{routes[i].Of[n].Resource}
			}
			item.SetOperation(routes[i].Method, op)
			doc.Paths.Set(path, item)
		}
	}
	if err := openapi3.NewLoader().ResolveRefsIn(doc, nil); err != nil {
		return nil, err
	}
	return doc, doc.Validate(context.Background())
}

func operationID(words ...string) string { return strings.Join(words, "_") }

// operation returns the operation of a route at one of its paths.
func operation(s *schemas, r *web.Route, path string) *openapi3.Operation {
	op := &openapi3.Operation{
		OperationID: operationID(r.Name), Summary: r.Doc, Description: "Needs: " + r.Needs + ".", Parameters: openapi3.Parameters{}, Responses: &openapi3.Responses{},
	}
	for _, name := range pathParams(path) {
		p := openapi3.NewPathParameter(name).WithSchema(openapi3.NewStringSchema())
		op.Parameters = append(op.Parameters, &openapi3.ParameterRef{Value: p})
	}
	for i := range r.Params {
		op.Parameters = append(op.Parameters, &openapi3.ParameterRef{Value: parameter(&r.Params[i])})
	}
	if r.Method == http.MethodPost {
		body := openapi3.NewRequestBody().WithRequired(true).WithDescription("Manifests.").
			WithContent(openapi3.NewContentWithSchema(openapi3.NewStringSchema(), []string{"application/yaml", "application/json"}))
		op.RequestBody = &openapi3.RequestBodyRef{Value: body}
	}
	op.AddResponse(http.StatusOK, success(s, r))
	for _, code := range codes(r) {
		op.Responses.Set(strconv.Itoa(code), &openapi3.ResponseRef{Ref: "#/components/responses/Error"})
	}
	if r.Method == http.MethodGet && r.Name != "events" {
		op.Responses.Set("304", &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription("The caller has the answer already, by If-None-Match.")})
	}
	if r.Needs == "none" {
		op.Security = openapi3.NewSecurityRequirements()
	}
	return op
}

// success returns the response of a successful request.
func success(s *schemas, r *web.Route) *openapi3.Response {
	out := openapi3.NewResponse().WithDescription(r.Doc)
	switch {
	case r.Answer != nil:
		return out.WithJSONSchemaRef(s.of(reflect.TypeOf(r.Answer)))
	case r.Name == "events":
		return out.WithContent(openapi3.NewContentWithSchema(openapi3.NewStringSchema(), []string{"text/event-stream"}))
	}
	return out.WithJSONSchema(openapi3.NewObjectSchema().WithAnyAdditionalProperties())
}

// codes returns the HTTP status codes of the errors of a route.
func codes(r *web.Route) []int {
	out := []int{400, 401, 403, 404, 405, 429, 500, 503, 504}
	if r.Method == http.MethodPost {
		out = append(out, http.StatusRequestEntityTooLarge)
	}
	return out
}

func parameter(p *web.Param) *openapi3.Parameter {
	schema := openapi3.NewStringSchema()
	if p.Number {
		schema = openapi3.NewIntegerSchema().WithMin(float64(p.Min)).WithMax(float64(p.Max))
		if p.Default >= p.Min {
			schema.WithDefault(p.Default)
		}
	}
	for _, v := range p.Values {
		schema.Enum = append(schema.Enum, v)
	}
	if p.Repeat {
		schema = openapi3.NewArraySchema().WithItems(schema)
	}
	out := openapi3.NewQueryParameter(p.Name).WithDescription(p.Doc).WithSchema(schema).WithRequired(p.Required)
	out.AllowEmptyValue = !p.Required
	return out
}

var inBraces = regexp.MustCompile(`{(\w+)}`)

// pathParams returns the parameter names of a path template.
func pathParams(path string) (out []string) {
	for _, m := range inBraces.FindAllStringSubmatch(path, -1) {
		out = append(out, m[1])
	}
	return out
}
