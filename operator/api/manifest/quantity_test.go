package manifest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firekeeper-dev/firekeeper/internal/jsonfields"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// within fails the test if a decoder takes longer than any document needs.
func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: does not end", what)
	}
}

// A quantity with an absurd exponent is an error of its field, which is reported before a
// power of ten is computed that takes hours, or all memory when it is encoded.
func TestLargeExponents(t *testing.T) {
	const want = "want a quantity such as 500m, 2, 50G or 50Gi"
	for _, value := range []string{`"1e999999999999"`, `"1e-999999999"`, `"1E+2147483646"`, `"-.5e-0000777777777"`, `"9e999999999"`, `1e-999999999`, `"1e101"`, `"\u0031e999999999999"`} {
		stored := fmt.Sprintf(`{"metadata":{"name":"a"},"spec":{"image":"5e1000","nativeHistogramMinBucketFactor":%s,"resources":{"requests":{"cpu":%s,"memory":"5Gi"}}}}`, value, value)
		type object struct {
			v1.Decoding
			Spec struct {
				Image     string                      `json:"image"`
				Factor    *resource.Quantity          `json:"nativeHistogramMinBucketFactor"`
				Resources corev1.ResourceRequirements `json:"resources"`
			} `json:"spec"`
		}
		within(t, value, func() {
			var o object
			if err := DecodeStored([]byte(stored), &o); err != nil {
				t.Errorf("%s: %v", value, err)
				return
			}
			if o.Spec.Image != "5e1000" || o.Spec.Resources.Requests.Memory().String() != "5Gi" || len(o.Faults) != 2 {
				t.Errorf("%s: read %+v, %v", value, o.Spec, o.Faults)
			}
			for _, f := range o.Faults {
				if !strings.HasPrefix(f.Reason, want) {
					t.Errorf("%s: %v", value, f)
				}
			}
		})
		for name, decode := range map[string]func([]byte, any) error{"Decode": Decode, "DecodeKnown": DecodeKnown} {
			if value == `1e-999999999` { // read as 0 by decoders that parse numbers first
				continue
			}
			within(t, name, func() {
				var r struct {
					Spec corev1.ResourceRequirements `json:"spec"`
				}
				err := decode([]byte(`{"spec":{"limits":{"cpu":`+value+`}}}`), &r)
				if err == nil || !strings.Contains(err.Error(), "spec.limits.cpu: "+want) {
					t.Errorf("%s of %s: %v", name, value, err)
				}
			})
		}
	}
}

// Usual quantities are decoded, and so are strings that only look like one.
func TestUsualQuantities(t *testing.T) {
	for _, value := range []string{`"1e3"`, `"1e99"`, `"1E"`, `"500m"`, `"1.5Gi"`, `2`, `1e3`, `"1e-99"`, `"1e00000000003"`} {
		var got, want corev1.ResourceRequirements
		text := []byte(`{"limits":{"cpu":` + value + `}}`)
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if err := DecodeStored(text, &got); err != nil || got.Limits.Cpu().Cmp(*want.Limits.Cpu()) != 0 {
			t.Errorf("%s: %v %v", value, got, err)
		}
	}
	var o struct {
		v1.Decoding
		Text string            `json:"text"`
		All  []string          `json:"all"`
		Map  map[string]string `json:"map"`
		Any  any               `json:"any"`
	}
	text := []byte(`{"text":"1e999999999","all":["1e999999999"],"map":{"1e999999999":"1e999999999"},"any":"1e999999999","unknown":"1e999999999"}`)
	if err := DecodeStored(text, &o); err != nil || len(o.Faults) > 0 || o.Text != "1e999999999" || len(o.All) != 1 || o.Map["1e999999999"] == "" || o.Any == nil {
		t.Errorf("%+v %v", o, err)
	}
}

// TestQuantitiesAreInSpecs: packed decodes metadata and status without a look at quantities.
func TestQuantitiesAreInSpecs(t *testing.T) {
	found := map[string]bool{}
	var visit func(part string, of reflect.Type, seen map[reflect.Type]bool)
	visit = func(part string, of reflect.Type, seen map[reflect.Type]bool) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
			of = of.Elem()
		}
		if of == quantity {
			found[part] = true
		}
		if of.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		for _, member := range jsonfields.Of(of) {
			visit(part, member, seen)
		}
	}
	for _, row := range catalog.All {
		if row.IsWorkload() {
			continue
		}
		for part, of := range jsonfields.Of(reflect.TypeOf(row.New()).Elem()) {
			visit(part, of, map[reflect.Type]bool{})
		}
	}
	if !found["spec"] || len(found) > 1 {
		t.Errorf("quantities in %v", found)
	}
}
