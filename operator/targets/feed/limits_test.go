package feed

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/authenticator"
)

// Identifications are limited, in total, by address and for unknown addresses.
func TestReviews(t *testing.T) {
	var r reviews
	now := time.Unix(1000, 0)
	var ends []func(time.Time, error)
	start := func(from string) bool {
		end, err := r.start(now, from, "token of "+from)
		if err == nil {
			ends = append(ends, end)
		}
		return err == nil
	}
	done := func() {
		for _, end := range ends {
			end(now, nil)
		}
		ends = nil
	}
	for range maxReviewsOf {
		start("a")
	}
	if start("a") {
		t.Error("one address has them all")
	}
	for i := range 100 {
		start(fmt.Sprint(i))
	}
	if len(ends) != maxStrangers {
		t.Errorf("%d strangers at a time", len(ends))
	}
	done()
	for range 2 {
		for i := range 20 {
			for range maxReviewsOf {
				start(fmt.Sprint("known", i))
			}
		}
		if len(ends) > maxReviews {
			t.Errorf("%d at a time", len(ends))
		}
		done()
	}
	if r.open != 0 || r.strangers != 0 || !start("a") {
		t.Error("they do not end")
	}
	done()
	now = now.Add(2 * knownFor)
	start("later")
	if len(r.from) != 1 || len(r.tokens) != 0 {
		t.Errorf("%d addresses and %d tokens are remembered", len(r.from), len(r.tokens))
	}
}

// Pods with random tokens cause few reviews each, however fast they send them. Pods with valid tokens are admitted at
// any time, even from the same address if their token is known.
func TestRandomTokens(t *testing.T) {
	var r reviews
	now := time.Unix(1000, 0)
	const hostile = 40
	end, err := r.start(now, "10.0.0.1", "known")
	if err != nil {
		t.Fatal(err)
	}
	end(now, nil)
	invalid := &refusal{code: http.StatusUnauthorized}
	n, held := 0, []func(time.Time, error){}
	for second := range 60 {
		now = now.Add(time.Second)
		for i := range 100 * hostile { // the last ones of each second are still being reviewed when others come
			end, err := r.start(now, fmt.Sprint("10.0.1.", i%hostile), fmt.Sprint("random ", second, i))
			if err != nil {
				continue
			}
			if n++; len(held) < maxStrangers-1 {
				held = append(held, end)
				continue
			}
			end(now, invalid)
		}
		end, err := r.start(now, "10.0.0.2", fmt.Sprint("valid ", second))
		if err != nil {
			t.Fatalf("second %d: a new pod: %v", second, err)
		}
		end(now, nil)
		for _, end := range held {
			end(now, &refusal{code: http.StatusForbidden})
		}
		held = held[:0]
	}
	if most := hostile * (maxFailures + 60/10); n > most {
		t.Errorf("%d reviews, want at most %d", n, most)
	}
	for range 20 {
		if end, err := r.start(now, "10.0.1.1", "wrong"); err == nil {
			end(now, invalid)
		}
	}
	if _, err := r.start(now, "10.0.1.1", "wrong"); !errors.Is(err, errFailing) {
		t.Errorf("the address is not limited: %v", err)
	}
	if end, err = r.start(now, "10.0.1.1", "known"); err != nil {
		t.Fatalf("a known token from a limited address: %v", err)
	}
	end(now, errors.New("the client has gone"))
	now = now.Add(failureEvery)
	if _, err := r.start(now, "10.0.1.1", "wrong"); err != nil {
		t.Errorf("later: %v", err)
	}
	if len(r.from) > hostile+2 {
		t.Errorf("%d addresses", len(r.from))
	}
}

// The memory for senders is bounded.
func TestManyAddresses(t *testing.T) {
	var r reviews
	now := time.Unix(1000, 0)
	for i := range 2 * maxKnown {
		if end, err := r.start(now, fmt.Sprint(i), fmt.Sprint(i)); err == nil {
			end(now, nil)
		}
	}
	if len(r.from) != maxKnown || len(r.tokens) != maxKnown {
		t.Errorf("%d addresses, %d tokens", len(r.from), len(r.tokens))
	}
}

// countingTokens counts reviews.
type countingTokens struct{ n int }

// AuthenticateToken implements authenticator.Token.
func (c *countingTokens) AuthenticateToken(context.Context, string) (*authenticator.Response, bool, error) {
	c.n++
	return nil, true, nil
}

// Tokens that cannot be valid are not reviewed.
func TestPlausible(t *testing.T) {
	text := func(part any) string {
		out, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(out)
	}
	now := float64(time.Now().Unix())
	valid := map[string]any{
		"iss": "https://kubernetes.default.svc", "aud": []string{Audience}, "exp": now + 3600, "nbf": now, "sub": "system:serviceaccount:monitoring:prometheus",
		"kubernetes.io": map[string]any{"namespace": "monitoring", "pod": map[string]any{"name": "prometheus-k8s-0", "uid": "1"}},
	}
	f := New()
	tokens := &countingTokens{}
	p := Plausible{Token: tokens, Has: f.HasPods}
	reviewed := func(token string) bool {
		before := tokens.n
		if _, ok, err := p.AuthenticateToken(t.Context(), token); err != nil || ok != (tokens.n > before) {
			t.Fatal(ok, err)
		}
		return tokens.n > before
	}
	if !reviewed("x." + text(valid) + ".y") {
		t.Error("a valid token, before the workloads are known")
	}
	f.SetOwners(map[types.NamespacedName]Owner{{Namespace: "monitoring", Name: "prometheus-k8s"}: {}})
	for name, tc := range map[string]struct {
		claim string
		value any
		want  bool
	}{
		"valid":                         {"", nil, true},
		"one audience as text":          {"aud", Audience, true},
		"just expired":                  {"exp", now - 5, true},
		"expired":                       {"exp", now - 120, false},
		"without expiry":                {"exp", nil, false},
		"of the future":                 {"nbf", now + 120, false},
		"without issuer":                {"iss", "", false},
		"another audience":              {"aud", []string{"vault"}, false},
		"an audience of no type":        {"aud", 7, false},
		"another subject":               {"sub", "system:serviceaccount:tenant:prometheus", false},
		"bound to no pod":               {"kubernetes.io", map[string]any{"namespace": "monitoring"}, false},
		"a namespace without workloads": {"kubernetes.io", map[string]any{"namespace": "tenant", "pod": map[string]any{"name": "a", "uid": "1"}}, false},
	} {
		with := maps.Clone(valid)
		if with[tc.claim] = tc.value; name == "a namespace without workloads" {
			with["sub"] = "system:serviceaccount:tenant:prometheus"
		}
		if got := reviewed("x." + text(with) + ".y"); got != tc.want {
			t.Errorf("%s: reviewed: %v", name, got)
		}
	}
	for _, token := range []string{"", "x", "x.y", "x.y.z", "..", "x." + text(valid), "x." + text(valid) + ".", "x." + text(valid) + ".y.z", "x." + text([]int{1}) + ".y"} {
		if reviewed(token) {
			t.Errorf("reviewed: %q", token)
		}
	}
}
