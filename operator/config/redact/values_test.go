package redact

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/cputime"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// valuesOf returns values of a Secret.
func valuesOf(all ...string) *Values {
	v, values := &Values{}, map[string][]byte{}
	for i, value := range all {
		values[fmt.Sprint(i)] = []byte(value)
	}
	v.add(values)
	return v
}

func TestValues(t *testing.T) {
	const password, odd = "hunter2-hunter2", "p&ss wörd/"
	long := strings.Repeat("0123456789", 100)
	v := valuesOf(password, "hunter", odd, "abc", "  spaces\n", long, "")
	for text, want := range map[string]bool{
		password: true, "x" + password + "y": true, "hunter": true, "a hunter2": true, "hunt": false,
		url.QueryEscape(odd): true, url.PathEscape(odd): true, "https://a/?x=" + url.QueryEscape(odd): true,
		base64.StdEncoding.EncodeToString([]byte(odd)): true, "Basic " + base64.StdEncoding.EncodeToString([]byte(password)): true,
		"abc": true, " abc ": true, "abcd": false, "a abc": false,
		"spaces": true, "": false, long: true, "a" + long: true, base64.StdEncoding.EncodeToString([]byte(long)): true, long[:100]: false,
		// Placeholders are values too.
		word: true, "a hidden service": false, "https://hidden.invalid/": true, "to hidden.invalid:1": true,
	} {
		if got := v.In(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
	v.add(map[string][]byte{"later": []byte("added later")})
	if !v.In("added later") || !v.In(password) {
		t.Error("a value that is added later is not found, or the others are not any more")
	}
	if (*Values)(nil).In(password) || new(Values).In(password) {
		t.Error("no values are found")
	}
}

// The author of a Secret and of a text cannot make the search expensive.
func TestHostileValues(t *testing.T) {
	var all []string
	for i := range 50_000 {
		all = append(all, fmt.Sprintf("aaaa%dx", i))
	}
	for i := range 200 {
		all = append(all, strings.Repeat("a", 4000+i)+"x")
	}
	v, begin := valuesOf(all...), cputime.Now()
	for _, text := range []string{strings.Repeat("aaaa9", 100_000), strings.Repeat("a", 250) + strings.Repeat("b", 500_000)} {
		if v.In(text) {
			t.Error("a value is found that is not there")
		}
	}
	tree := Tree{Values: v, Paths: LongPaths}
	for _, text := range []string{
		strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000), "{a: '" + strings.Repeat("://a/", 100_000) + "'}", "{a: '" + strings.Repeat("://?&a", 100_000) + "'}",
		"? " + strings.Repeat("aA", 100_000) + "\n: b", strings.Repeat("- {key: a, name: b}\n", 10_000), "- {" + strings.Repeat("source_labels: [__param_a], ", 5_000) + "}",
	} {
		if _, err := tree.Text(text); err != nil && !strings.Contains(text, "source_labels") {
			t.Errorf("%.20s: %v", text, err)
		}
	}
	if took := cputime.Since(begin); took > 30*time.Second {
		t.Errorf("takes %s", took)
	}
}

// Compiled configurations contain placeholders instead of values of Secrets.
func TestReplace(t *testing.T) {
	const pem = "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----"
	secret, config := &corev1.Secret{}, &corev1.ConfigMap{}
	secret.Namespace, secret.Name, config.Namespace, config.Name = "demo", "login", "demo", "login"
	secret.StringData = map[string]string{
		"password": "hunter2", "url": "https://host/hunter2\n", "host": " hunter2.example:25", "file": "own: hunter3", "cert": pem + "\n", "empty": "",
	}
	config.Data = map[string]string{"ca": "hunter4"}
	var static assets.Static
	static.AddSecret(secret)
	static.AddConfigMap(config)
	var values Values
	r := values.Replace(&static, func(ref assets.Ref, key string) bool { return ref.Name == "login" && key == "file" })
	of := assets.Ref{Kind: assets.Secret, Namespace: "demo", Name: "login"}
	got, err := r.Object(of)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"password": word, "url": someURL, "host": someHost, "file": "own: hunter3", "cert": pem, "empty": ""} {
		if string(got.Values[key]) != want {
			t.Errorf("%s: %q, want %q", key, got.Values[key], want)
		}
	}
	of.Kind = assets.ConfigMap
	if got, err = r.Object(of); err != nil || string(got.Values["ca"]) != "hunter4" {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]bool{"a hunter2": true, "hunter3": false, "hunter4": false} {
		if values.In(text) != want {
			t.Errorf("%s: %t", text, !want)
		}
	}
	var recorded Values
	of.Kind = assets.Secret
	if got, err = recorded.Record(&static).Object(of); err != nil || string(got.Values["password"]) != "hunter2" || !recorded.In("own: hunter3") {
		t.Errorf("%v, %v", got, err)
	}
}
