package amconfig

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/templatecost"
)

// checkTemplates rejects templates that exhaust Alertmanager. It checks all texts of a receiver, because the fields that
// Alertmanager expands depend on its version. Errors start with the path below the receiver.
//
// spent: what the templates of the object cost so far.
func checkTemplates(spent *templatecost.Budget, r *v1alpha1.Receiver) error {
	spent.Next(r.Name)
	return eachText("", reflect.ValueOf(r), spent.Add)
}

// eachText calls check with all texts below v, until one fails.
func eachText(path string, v reflect.Value, check func(string) error) error {
	switch v.Kind() {
	case reflect.String:
		if err := check(v.String()); err != nil {
			return faults.At(path, err)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return eachText(path, v.Elem(), check)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if err := eachText(below(path, name), v.Field(i), check); err != nil {
				return err
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := eachText(fmt.Sprintf("%s[%d]", path, i), v.Index(i), check); err != nil {
				return err
			}
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			if err := eachText(fmt.Sprintf("%s[%q]", path, key), value, check); err != nil {
				return err
			}
		}
	}
	return nil
}

// below returns the path of a field; the fields of an embedded struct have the path of the struct.
func below(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}
