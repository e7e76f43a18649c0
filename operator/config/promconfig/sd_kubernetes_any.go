package promconfig

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

const roleNode = "node"

// KubernetesAnySD is one entry of kubernetes_sd_configs as users write it:
// any role, any API server. [KubernetesSD] is what the operator itself writes.
type KubernetesAnySD struct {
	// APIServer is the URL of another cluster; the pod's own when empty.
	APIServer string `yaml:"api_server,omitempty"`
	// Role is the kind of object that becomes targets.
	Role string `yaml:"role"`
	// Credentials for the API.
	clientconfig.Credentials `yaml:",inline"`
	// Proxy towards the API.
	clientconfig.Proxy `yaml:",inline"`
	// Redirects of the client.
	clientconfig.Redirects `yaml:",inline"`
	// TLSConfig towards the API.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Namespaces to look into; all when absent.
	Namespaces *OwnNamespaces `yaml:"namespaces,omitempty"`
	// Selectors limit what is watched, one per role.
	Selectors []AnyRoleSelector `yaml:"selectors,omitempty" since:"2.17.0"`
	// AttachMetadata adds labels of the target's node.
	AttachMetadata *AttachAny `yaml:"attach_metadata,omitempty"`
}

// OwnNamespaces lists namespaces to discover in.
type OwnNamespaces struct {
	// Names in the user's order; empty means all unless OwnNamespace is true.
	Names []string `yaml:"names"`
	// OwnNamespace adds the namespace of the server's pod.
	OwnNamespace *bool `yaml:"own_namespace,omitempty" since:"2.33.0"`
}

// AnyRoleSelector limits what is watched of one role.
type AnyRoleSelector struct {
	// Role of the watched objects.
	Role string `yaml:"role"`
	// Label selector.
	Label string `yaml:"label,omitempty"`
	// Field selector.
	Field string `yaml:"field,omitempty"`
}

// AttachAny asks for labels of the target's node.
type AttachAny struct {
	// Node adds the node's labels.
	Node *bool `yaml:"node"`

	role string
}

// Allowed depends on the role: pods learned it before services did, and other
// targets have no node.
func (a *AttachAny) Allowed(t gate.Target) (need string) {
	switch {
	case a.role == rolePod && !t.AtLeast("2.35.0"):
		return ">= 2.35.0"
	case (a.role == roleEndpoints || a.role == roleEndpointSlice) && !t.AtLeast("2.37.0"):
		return ">= 2.37.0"
	case a.role == roleService || a.role == roleIngress || a.role == roleNode:
		return "role pod, endpoints or endpointslice"
	}
	return ""
}

func (c *compiler) kubernetesSD(in *v1alpha1.KubernetesSDConfig) (*KubernetesAnySD, error) {
	client, err := c.sdClient(&in.HTTPTransport, in.HTTPCredentials)
	if err != nil {
		return nil, err
	}
	out := &KubernetesAnySD{
		APIServer: in.APIServer, Role: lower(in.Role), Credentials: client.Credentials, Proxy: client.Proxy,
		Redirects: client.Redirects, TLSConfig: client.TLS,
	}
	if out.Role == roleEndpointSlice {
		if err := c.sinceValue("role", string(in.Role), "2.21.0"); err != nil {
			return nil, err
		}
	}
	if err := out.checkAPIServer(); err != nil {
		return nil, err
	}
	if n := in.Namespaces; n != nil {
		out.Namespaces = &OwnNamespaces{Names: n.Names, OwnNamespace: n.OwnNamespace}
		if err := c.checkOwnNamespace(n, in.APIServer); err != nil {
			return nil, at("namespaces", err)
		}
	}
	if m := in.AttachMetadata; m != nil {
		out.AttachMetadata = &AttachAny{Node: m.Node, role: out.Role}
	}
	out.Selectors, err = c.anySelectors(out.Role, in.Selectors)
	return out, err
}

// checkAPIServer: the server takes settings of the client only together with
// the URL they are for.
func (k *KubernetesAnySD) checkAPIServer() error {
	if k.APIServer != "" {
		if _, err := url.Parse(k.APIServer); err != nil {
			return at("apiServer", errors.New("is not a URL"))
		}
		return nil
	}
	if len(k.ConnectHeader) == 0 {
		k.ConnectHeader = nil
	}
	isFalse := func(b *bool) bool { return b != nil && !*b }
	for _, set := range []clientconfig.Way{
		way("basicAuth", k.BasicAuth != nil), way("authorization", k.Authorization != nil), way("oauth2", k.OAuth2 != nil),
		way("tlsConfig", k.TLSConfig != nil && !plainTLS(k.TLSConfig)), way("proxyUrl", k.Proxy.URL != ""),
		way("proxyFromEnvironment", k.FromEnvironment != nil && *k.FromEnvironment),
		way("followRedirects", isFalse(k.FollowRedirects)), way("enableHTTP2", isFalse(k.EnableHTTP2)),
	} {
		if set.Given {
			return at(set.Field, errors.New("needs apiServer"))
		}
	}
	return nil
}

// plainTLS reports whether the block says what the server does anyway.
func plainTLS(t *clientconfig.TLSConfig) bool {
	copied := *t
	if t.InsecureSkipVerify != nil && !*t.InsecureSkipVerify {
		copied.InsecureSkipVerify = nil
	}
	return copied == clientconfig.TLSConfig{}
}

func (c *compiler) checkOwnNamespace(n *v1alpha1.NamespaceDiscovery, apiServer string) error {
	if n.OwnNamespace == nil || !*n.OwnNamespace {
		return nil
	}
	if apiServer != "" {
		return at("ownNamespace", errors.New("conflicts with apiServer"))
	}
	return c.own.Since("ownNamespace", "2.33.0")
}

// selectorRoles are the kinds of object that each role watches.
var selectorRoles = map[string][]string{
	rolePod:           {rolePod},
	roleService:       {roleService},
	roleEndpoints:     {rolePod, roleService, roleEndpoints},
	roleEndpointSlice: {rolePod, roleService, roleEndpointSlice},
	roleNode:          {roleNode},
	roleIngress:       {roleIngress},
}

// anySelectors checks and writes selectors, one per kind of watched object.
func (c *compiler) anySelectors(role string, in []v1alpha1.K8SSelectorConfig) ([]AnyRoleSelector, error) {
	allowed := selectorRoles[role]
	if role == rolePod && c.s.target.AtLeast("3.11.0") { // for the labels that attachMetadata adds
		allowed = []string{rolePod, roleNode}
	}
	var out []AnyRoleSelector
	seen := map[string]bool{}
	for i := range in {
		s := AnyRoleSelector{Role: lower(in[i].Role), Label: in[i].Label, Field: in[i].Field}
		if err := s.check(role, allowed, seen); err != nil {
			return nil, at(fmt.Sprintf("selectors[%d]", i), err)
		}
		seen[s.Role] = true
		out = append(out, s)
	}
	return out, nil
}

func (s AnyRoleSelector) check(role string, allowed []string, seen map[string]bool) error {
	switch {
	case !slices.Contains(allowed, s.Role):
		return at("role", fmt.Errorf("%s watches %s only, not %s", role, strings.Join(allowed, ", "), s.Role))
	case seen[s.Role]:
		return at("role", fmt.Errorf("%s occurs twice", s.Role))
	}
	if _, err := labels.Parse(s.Label); err != nil {
		return at("label", fmt.Errorf("%q is not a label selector: %w", s.Label, err))
	}
	if _, err := fields.ParseSelector(s.Field); err != nil {
		return at("field", fmt.Errorf("%q is not a field selector: %w", s.Field, err))
	}
	return nil
}
