package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// sdClient validates and resolves the HTTP client of a discovery. At most one
// authentication method may be set, including other ways; an empty block counts.
func (c *compiler) sdClient(t *v1alpha1.HTTPTransport, cr v1alpha1.HTTPCredentials, others ...clientconfig.Way) (clientconfig.Client, error) {
	if err := clientconfig.AtMostOne(append(others,
		way("basicAuth", cr.BasicAuth != nil), way("authorization", cr.Authorization != nil), way("oauth2", cr.OAuth2 != nil),
	)...); err != nil {
		return clientconfig.Client{}, err
	}
	return c.own.Client(v1.HTTPConfigWithoutTLS{
		BasicAuth: cr.BasicAuth, Authorization: cr.Authorization, OAuth2: cr.OAuth2,
		FollowRedirects: t.FollowRedirects, EnableHTTP2: t.EnableHTTP2,
	}, clientconfig.FullTLS(t.TLSConfig), t.ProxyConfig)
}
