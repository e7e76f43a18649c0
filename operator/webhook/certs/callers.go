package certs

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// Names of the objects through which API servers reach the webhooks, as in
// deploy/components. Missing ones are skipped.
var (
	validating  = []string{"firekeeper-prometheusrules", "firekeeper-alertmanagerconfigs", "firekeeper-validate-all"}
	mutating    = []string{"firekeeper-prometheusrules"}
	definitions = []string{"alertmanagerconfigs.monitoring.coreos.com"}
)

// caller is one of these objects.
type caller struct {
	apply.Caller
	hosts   []string
	bundles [][]byte
}

// trusts reports whether all webhooks of the object have this CA bundle.
func (c caller) trusts(bundle []byte) bool {
	return !slices.ContainsFunc(c.bundles, func(has []byte) bool { return !bytes.Equal(has, bundle) })
}

// add records one clientConfig, which has either a Service or a URL.
func (c *caller) add(path string, service *types.NamespacedName, link *string, bundle []byte) {
	host := ""
	if service != nil {
		host = service.Name + "." + service.Namespace + ".svc" // as API servers expect
	} else if link != nil {
		if u, err := url.Parse(*link); err == nil {
			host = u.Hostname()
		}
	}
	if host == "" {
		return
	}
	if ip := net.ParseIP(host); ip != nil {
		host = ip.String() // the form in which it is read back from the certificate
	}
	c.Paths = append(c.Paths, path+"/caBundle")
	c.hosts = append(c.hosts, host)
	c.bundles = append(c.bundles, bundle)
}

// callers reads all of these objects.
//
// Errors: those of the API server, with the name of the object.
func (o *Options) callers(ctx context.Context) (out []caller, err error) {
	for kind, names := range map[string][]string{apply.ValidatingWebhooks: validating, apply.MutatingWebhooks: mutating, apply.Definition: definitions} {
		for _, name := range names {
			c := caller{Caller: apply.Caller{Kind: kind, Name: name}}
			err := o.read(ctx, &c)
			switch {
			case apierrors.IsNotFound(err):
			case err != nil:
				return nil, fmt.Errorf("read %s %s: %w", kind, name, err)
			case len(c.Paths) > 0:
				out = append(out, c)
			}
		}
	}
	return out, nil
}

// read fills in the webhooks of a caller.
func (o *Options) read(ctx context.Context, c *caller) error {
	api := o.Writer.Kube.AdmissionregistrationV1()
	switch c.Kind {
	case apply.ValidatingWebhooks:
		object, err := api.ValidatingWebhookConfigurations().Get(ctx, c.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		c.ResourceVersion = object.ResourceVersion
		for i := range object.Webhooks {
			c.webhook(i, &object.Webhooks[i].ClientConfig)
		}
	case apply.MutatingWebhooks:
		object, err := api.MutatingWebhookConfigurations().Get(ctx, c.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		c.ResourceVersion = object.ResourceVersion
		for i := range object.Webhooks {
			c.webhook(i, &object.Webhooks[i].ClientConfig)
		}
	default:
		object, err := o.Writer.CRDs.Get(ctx, c.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		c.ResourceVersion = object.ResourceVersion
		c.conversion(object.Spec.Conversion)
	}
	return nil
}

// webhook records a webhook of a configuration.
func (c *caller) webhook(i int, client *admissionregistrationv1.WebhookClientConfig) {
	var service *types.NamespacedName
	if s := client.Service; s != nil {
		service = &types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
	}
	c.add(fmt.Sprintf("/webhooks/%d/clientConfig", i), service, client.URL, client.CABundle)
}

// conversion records the conversion webhook of a CRD, if it has one.
func (c *caller) conversion(by *apiextensionsv1.CustomResourceConversion) {
	if by == nil || by.Webhook == nil || by.Webhook.ClientConfig == nil {
		return
	}
	client := by.Webhook.ClientConfig
	var service *types.NamespacedName
	if s := client.Service; s != nil {
		service = &types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
	}
	c.add("/spec/conversion/webhook/clientConfig", service, client.URL, client.CABundle)
}
