package workload

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestBuiltSetsFollowEveryInput: a StatefulSet is built once for equal inputs, and again after a change of any field of
// the inputs, or of the workload's version.
func TestBuiltSetsFollowEveryInput(t *testing.T) {
	var k BuiltSets
	built := 0
	owner := &metav1.ObjectMeta{UID: "u", ResourceVersion: "1"}
	build := func(in PodInputs) (*appsv1.StatefulSet, error) {
		built++
		return &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"shard": string(rune('0' + in.Shard))}}}, nil
	}
	get := func(what string, in PodInputs, want int) {
		t.Helper()
		built = 0
		for range 2 {
			set, err := k.Get(owner, in, build)
			if err != nil || set.Annotations["shard"] != string(rune('0'+in.Shard)) {
				t.Errorf("%s: %v, %v", what, set, err)
			}
		}
		if built != want {
			t.Errorf("%s: built %d times, want %d", what, built, want)
		}
	}
	base := func() PodInputs { return PodInputs{RuleConfigMaps: []string{"a", "b"}, TLSSecrets: 1, Hash: "1"} }
	get("the first", base(), 1)
	get("the same again", base(), 0)
	fields := reflect.TypeFor[PodInputs]()
	for i := range fields.NumField() {
		in := base()
		switch f := reflect.ValueOf(&in).Elem().Field(i); f.Kind() {
		case reflect.Int, reflect.Int32:
			f.SetInt(f.Int() + 1)
		case reflect.String:
			f.SetString(f.String() + "x")
		case reflect.Bool:
			f.SetBool(!f.Bool())
		case reflect.Slice:
			f.Index(1).SetString("c") // the last inputs are not those of the caller
		default:
			t.Fatalf("no change of %s", fields.Field(i).Name)
		}
		get(fields.Field(i).Name, in, 1)
		k.kept[0] = builtSet{}
		get("as before", base(), 1)
	}
	reused := base()
	get("a slice", reused, 0)
	reused.RuleConfigMaps[0] = "other"
	get("a slice that the caller changes", reused, 1)

	owner.ResourceVersion = "2"
	get("a later version", reused, 1)
	owner.UID = "v"
	get("another object", reused, 1)
	owner.ResourceVersion = ""
	get("no version", reused, 2)

	owner.ResourceVersion = "3"
	for range 2 {
		if _, err := k.Get(owner, base(), func(PodInputs) (*appsv1.StatefulSet, error) { return nil, errors.New("no image") }); err == nil {
			t.Error("an error is lost")
		}
	}
	get("after an error", base(), 1)
}

// TestBuiltSetsAreBounded: neither many shards nor a large pod let a workload occupy more than its share.
func TestBuiltSetsAreBounded(t *testing.T) {
	owner := &metav1.ObjectMeta{UID: "u", ResourceVersion: "1"}
	for what, size := range map[string]int{"many": 4 << 10, "large": maxBuiltBytes} {
		var k BuiltSets
		for round := range 3 {
			for shard := range int32(1000) {
				set, err := k.Get(owner, PodInputs{Shard: shard, TLSSecrets: round}, func(PodInputs) (*appsv1.StatefulSet, error) {
					return &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"text": strings.Repeat("x", size)}}}, nil
				})
				if err != nil || len(set.Annotations["text"]) != size {
					t.Fatal(what, set, err)
				}
			}
		}
		total := 0
		for _, one := range k.kept {
			total += one.bytes
		}
		if total != k.Held() || total > maxBuiltBytes || (total == 0) != (what == "large") {
			t.Errorf("%s: %d bytes are kept, and counted as %d", what, total, k.Held())
		}
	}
}
