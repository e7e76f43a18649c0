package promconfig

import (
	"errors"
	"fmt"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// way is one of several blocks that are mutually exclusive.
type way struct {
	field string
	given bool
}

// atMostOne names the first two blocks that are given together.
func atMostOne(ways []way) error {
	first := ""
	for _, w := range ways {
		switch {
		case !w.given:
		case first == "":
			first = w.field
		default:
			return fmt.Errorf("%s and %s are mutually exclusive", first, w.field)
		}
	}
	return nil
}

// checkHTTP applies the rules about the HTTP client of an endpoint that need no
// look at the cluster; above all, at most one way to authenticate. An empty
// block counts as given.
func checkHTTP(h v1.HTTPConfigWithoutTLS, tls *v1.TLSConfig, proxy v1.ProxyConfig) error {
	if err := atMostOne([]way{
		{"authorization", h.Authorization != nil}, {"basicAuth", h.BasicAuth != nil},
		{"bearerTokenSecret", h.BearerTokenSecret != nil}, {"oauth2", h.OAuth2 != nil},
	}); err != nil {
		return err
	}
	if a := h.Authorization; a != nil {
		if err := checkAuthorizationType(a.Type); err != nil {
			return fmt.Errorf("authorization: %w", err)
		}
		if a.Credentials == nil {
			return errors.New("authorization: credentials: is missing")
		}
	}
	if err := checkOAuth2(h.OAuth2); err != nil {
		return fmt.Errorf("oauth2: %w", err)
	}
	if err := checkTLS(tls); err != nil {
		return fmt.Errorf("tlsConfig: %w", err)
	}
	return checkProxy(proxy)
}
