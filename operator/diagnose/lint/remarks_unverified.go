package lint

import (
	"reflect"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// unverifiedRemarks reports certificates of CAs in the fields of a spec that are not used, because nothing is verified.
func unverifiedRemarks(say says, spec any) {
	eachTLS("spec", reflect.ValueOf(spec), func(path string, t v1.SafeTLSConfig) {
		if valueOr(t.InsecureSkipVerify) && (t.CA.Secret != nil || t.CA.ConfigMap != nil) {
			say(path+".insecureSkipVerify", "is true, so the certificate of the server is not verified, and ca has no effect: remove insecureSkipVerify, or ca if this is meant")
		}
	})
}

// eachTLS calls f for each TLS configuration within a value, with its path.
func eachTLS(path string, v reflect.Value, f func(string, v1.SafeTLSConfig)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			eachTLS(path, v.Elem(), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachTLS(faults.Index(path, i), v.Index(i), f)
		}
	case reflect.Struct:
		if t, is := v.Interface().(v1.SafeTLSConfig); is {
			f(path, t)
			return
		}
		for i := range v.NumField() {
			of := v.Type().Field(i)
			name, options, _ := strings.Cut(of.Tag.Get("json"), ",")
			switch {
			case !of.IsExported():
			case strings.Contains(options, "inline") || name == "" && of.Anonymous:
				eachTLS(path, v.Field(i), f)
			case name != "" && name != "-":
				eachTLS(path+"."+name, v.Field(i), f)
			}
		}
	}
}
