package admission

import (
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/jsonspan"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// limit is a set of size limits that apply before an object is decoded.
type limit struct {
	// bytes is the maximum size as JSON, without metadata.
	bytes int
	// structs is the maximum number of JSON objects and of array elements that are not
	// strings: `{}` is decoded to a struct of up to two kilobytes, and checking it costs
	// several times that.
	structs int
	// elements is the maximum length of arrays of spec, by name.
	elements map[string]int
}

// Limits of objects. An API server stores up to 1.5 MiB; 512 KiB of rules fit into an object
// of 1 MiB.
const (
	maxObjectBytes  = 3 << 19
	maxRuleBytes    = 1 << 20
	maxStructs      = 20_000
	maxManaged      = 1_000 // entries of metadata.managedFields
	maxMetaStructs  = 1_000 // the rest of metadata
	maxEnvelope     = 1 << 20
	maxEnvelopeUsed = 10_000 // structs of an AdmissionReview outside its objects
)

var (
	anyLimit = limit{bytes: maxObjectBytes, structs: maxStructs}
	limits   = map[string]limit{
		v1.PrometheusRuleResource:           {bytes: maxRuleBytes, structs: maxStructs},
		v1.ServiceMonitorResource:           {bytes: maxObjectBytes, structs: maxStructs, elements: map[string]int{"endpoints": budget.Endpoints}},
		v1.PodMonitorResource:               {bytes: maxObjectBytes, structs: maxStructs, elements: map[string]int{"podMetricsEndpoints": budget.Endpoints}},
		v1alpha1.AlertmanagerConfigResource: {bytes: maxObjectBytes, structs: maxStructs, elements: map[string]int{"receivers": budget.Receivers}},
	}
)

// tooLarge returns the limits that an object exceeds, before it is decoded. Names match like
// in encoding/json: they are case-insensitive, and duplicates count.
func tooLarge(r *admissionv1.AdmissionRequest) (out []Fault) {
	of, ok := limits[r.Resource.Resource]
	if !ok {
		of = anyLimit
	}
	size, structs := 0, 0
	jsonspan.Members(r.Object.Raw, func(name string, value []byte) bool {
		if strings.EqualFold(name, "metadata") {
			out = append(out, largeMetadata(value)...)
			return true
		}
		size, structs = size+len(value), structs+jsonspan.Weighty(value)
		if strings.EqualFold(name, "spec") {
			out = append(out, of.longArrays(value)...)
		}
		return true
	})
	if size > of.bytes {
		out = append(out, Fault{Field: "spec", Reason: fmt.Sprintf("has %d bytes, at most %d are allowed", size, of.bytes)})
	}
	if structs > of.structs {
		out = append(out, Fault{Field: "spec", Reason: fmt.Sprintf("has %d objects, at most %d are allowed", structs, of.structs)})
	}
	return out
}

func (l limit) longArrays(spec []byte) (out []Fault) {
	jsonspan.Members(spec, func(name string, value []byte) bool {
		for field, most := range l.elements {
			if strings.EqualFold(name, field) && jsonspan.Count(value, most) > most {
				out = append(out, Fault{Field: "spec." + field, Reason: fmt.Sprintf("has more than %d elements", most)})
			}
		}
		return true
	})
	return out
}

func largeMetadata(metadata []byte) (out []Fault) {
	structs := 0
	jsonspan.Members(metadata, func(name string, value []byte) bool {
		if strings.EqualFold(name, "managedFields") { // the entries are not decoded
			if jsonspan.Count(value, maxManaged) > maxManaged {
				out = append(out, Fault{Field: "metadata.managedFields", Reason: fmt.Sprintf("has more than %d elements", maxManaged)})
			}
			return true
		}
		structs += jsonspan.Weighty(value)
		return true
	})
	if structs > maxMetaStructs {
		out = append(out, Fault{Field: "metadata", Reason: fmt.Sprintf("has %d objects, at most %d are allowed", structs, maxMetaStructs)})
	}
	return out
}

// Memory for deciding a request, in bytes, not counting its body.
const (
	leastWeight  = 64 << 10
	structWeight = 3 << 10
	byteWeight   = 4
)

// reviewWeight returns the weight of an AdmissionReview. Content beyond the limits has no
// weight.
func reviewWeight(body []byte) int64 {
	structs := min(jsonspan.Weighty(body), 2*maxStructs)
	return leastWeight + byteWeight*int64(len(body)) + structWeight*int64(structs)
}

// conversionWeight returns the weight of a ConversionReview. The response is about as long as
// the request, and objects are converted one at a time.
func conversionWeight(body []byte) int64 {
	one := min(int64(len(body)), maxConverted)
	return leastWeight + int64(len(body)) + convertedWeight*one
}
