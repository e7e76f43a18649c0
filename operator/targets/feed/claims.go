package feed

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
)

// Plausible rejects tokens that cannot be valid, because of their claims, without a review, which costs a request to
// the API server. All other tokens are reviewed. Which issuers the API server accepts is not known here.
type Plausible struct {
	authenticator.Token
	// Has reports whether a namespace has pods that may get lists.
	Has func(namespace string) bool
}

// AuthenticateToken implements authenticator.Token.
func (p Plausible) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	if c, ok := claimsOf(token); !ok || !c.plausible(time.Now()) || !p.Has(c.Kubernetes.Namespace) {
		return nil, false, nil
	}
	return p.Token.AuthenticateToken(ctx, token)
}

// leeway is the difference of clocks that API servers accept.
const leeway = time.Minute

// claims are the claims of a pod's token.
type claims struct {
	Issuer     string    `json:"iss"`
	Subject    string    `json:"sub"`
	Audiences  audiences `json:"aud"`
	Expires    float64   `json:"exp"`
	Begins     float64   `json:"nbf"`
	Kubernetes struct {
		Namespace string `json:"namespace"`
		Pod       struct {
			Name string `json:"name"`
			UID  string `json:"uid"`
		} `json:"pod"`
	} `json:"kubernetes.io"`
}

// audiences is one string or several.
type audiences []string

// UnmarshalJSON implements json.Unmarshaler.
func (a *audiences) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*a = audiences{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(a))
}

// claimsOf returns the claims of a JSON Web Token, whose signature is not verified.
func claimsOf(token string) (out claims, ok bool) {
	_, rest, _ := strings.Cut(token, ".")
	payload, signature, _ := strings.Cut(rest, ".")
	if signature == "" || strings.Contains(signature, ".") {
		return out, false
	}
	text, err := base64.RawURLEncoding.DecodeString(payload)
	ok = err == nil && json.Unmarshal(text, &out) == nil
	return out, ok
}

// plausible reports whether a token with these claims can be valid here.
func (c *claims) plausible(now time.Time) bool {
	at := float64(now.Unix())
	return c.Issuer != "" && slices.Contains(c.Audiences, Audience) && c.Expires > at-leeway.Seconds() && c.Begins < at+leeway.Seconds() &&
		strings.HasPrefix(c.Subject, "system:serviceaccount:"+c.Kubernetes.Namespace+":") && c.Kubernetes.Pod.Name != "" && c.Kubernetes.Pod.UID != ""
}
