package clientconfig

import (
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// AzureAD is the azuread block of remote write.
type AzureAD struct {
	// ManagedIdentity is the managed identity of the node or pod.
	ManagedIdentity *ManagedIdentity `yaml:"managed_identity,omitempty"`
	// OAuth holds client credentials.
	OAuth *AzureOAuth `yaml:"oauth,omitempty" since:"2.48.0"`
	// SDK uses the credential lookup of the Azure SDK, for example from the environment.
	SDK *AzureSDK `yaml:"sdk,omitempty" since:"2.52.0,thanos=0.36.0"`
	// WorkloadIdentity is the workload identity of the pod.
	WorkloadIdentity *WorkloadIdentity `yaml:"workload_identity,omitempty" since:"3.7.0,thanos=0.41.0"`
	// Cloud is AzurePublic, AzureChina or AzureGovernment.
	Cloud string `yaml:"cloud,omitempty"`
	// Scope is the scope of the token.
	Scope string `yaml:"scope,omitempty" since:"3.9.0,thanos=0.42.0"`
}

// ManagedIdentity is a user-assigned identity if ClientID is set, otherwise the
// system-assigned one.
type ManagedIdentity struct {
	// ClientID is a UUID.
	ClientID string `yaml:"client_id,omitempty"`
}

// AzureOAuth holds client credentials.
type AzureOAuth struct {
	// ClientID is a UUID.
	ClientID string `yaml:"client_id"`
	// ClientSecret is read from a Secret.
	ClientSecret string `yaml:"client_secret"`
	// TenantID is the ID of the directory.
	TenantID string `yaml:"tenant_id"`
}

// AzureSDK enables the credential lookup of the Azure SDK.
type AzureSDK struct {
	// TenantID is the ID of the directory; may be empty.
	TenantID string `yaml:"tenant_id"`
}

// WorkloadIdentity is the federated identity of the pod.
type WorkloadIdentity struct {
	// ClientID is a UUID.
	ClientID string `yaml:"client_id"`
	// TenantID is a UUID.
	TenantID string `yaml:"tenant_id"`
}

// AzureAD validates and resolves the block; nil stays nil.
func (r *Resolver) AzureAD(a *v1.AzureAD) (*AzureAD, error) {
	if a == nil {
		return nil, nil
	}
	if err := checkAzureAD(a, r.target); err != nil {
		return nil, err
	}
	out := &AzureAD{Cloud: a.Cloud, Scope: a.Scope}
	if m := a.ManagedIdentity; m != nil {
		out.ManagedIdentity = &ManagedIdentity{ClientID: m.ClientID}
	}
	if o := a.OAuth; o != nil {
		secret, err := r.SecretKey(o.ClientSecret)
		if err != nil {
			return nil, faults.At("oauth.clientSecret", err)
		}
		out.OAuth = &AzureOAuth{ClientID: o.ClientID, ClientSecret: secret, TenantID: o.TenantID}
	}
	if s := a.SDK; s != nil {
		out.SDK = &AzureSDK{TenantID: s.TenantID}
	}
	if w := a.WorkloadIdentity; w != nil {
		out.WorkloadIdentity = &WorkloadIdentity{ClientID: w.ClientID, TenantID: w.TenantID}
	}
	return out, nil
}

// checkAzureAD checks that exactly one kind of identity is set and that the version supports it.
func checkAzureAD(a *v1.AzureAD, t gate.Target) error {
	ways := []Way{
		{"managedIdentity", a.ManagedIdentity != nil}, {"oauth", a.OAuth != nil},
		{"sdk", a.SDK != nil}, {"workloadIdentity", a.WorkloadIdentity != nil},
	}
	if err := AtMostOne(ways...); err != nil {
		return err
	}
	switch {
	case a.ManagedIdentity != nil:
		return CheckManagedIdentity(a.ManagedIdentity, t)
	case a.OAuth != nil:
		return checkIdentity("oauth", "2.48.0", t, id{"clientId", a.OAuth.ClientID})
	case a.SDK != nil:
		return checkIdentity("sdk", "2.52.0", t)
	case a.WorkloadIdentity != nil:
		return checkIdentity("workloadIdentity", "3.7.0", t,
			id{"clientId", a.WorkloadIdentity.ClientID}, id{"tenantId", a.WorkloadIdentity.TenantID})
	}
	return errors.New("one of managedIdentity, oauth, sdk and workloadIdentity is needed")
}

// CheckManagedIdentity rejects the system-assigned identity, which has no client ID, if
// the version does not support it. It accepts nil.
func CheckManagedIdentity(m *v1.ManagedIdentity, t gate.Target) error {
	if m == nil || m.ClientID != "" {
		return nil
	}
	if need := t.Needs("3.5.0,thanos=0.40.0"); need != "" {
		return faults.At("managedIdentity.clientId", errors.New("may be empty only with "+need))
	}
	return nil
}

// id is a field that must hold a UUID.
type id struct{ field, value string }

func checkIdentity(field, since string, t gate.Target, ids ...id) error {
	if need := t.Needs(since); need != "" {
		return faults.At(field, fmt.Errorf("needs %s", need))
	}
	for _, id := range ids {
		if _, err := uuid.Parse(id.value); err != nil {
			return faults.At(field+"."+id.field, fmt.Errorf("%q is not a UUID", id.value))
		}
	}
	return nil
}
