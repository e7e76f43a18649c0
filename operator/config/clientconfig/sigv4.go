package clientconfig

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// SigV4 is a sigv4 block: requests signed for AWS.
type SigV4 struct {
	// Region of AWS; the SDK's default when empty.
	Region string `yaml:"region,omitempty"`
	// AccessKey from a Secret.
	AccessKey string `yaml:"access_key,omitempty"`
	// SecretKey from a Secret.
	SecretKey string `yaml:"secret_key,omitempty"`
	// Profile of the SDK's configuration file.
	Profile string `yaml:"profile,omitempty"`
	// RoleARN of the role to assume.
	RoleARN string `yaml:"role_arn,omitempty"`
	// ExternalID for assuming the role.
	ExternalID string `yaml:"external_id,omitempty" since:"3.11.0,alertmanager=0.31.0,thanos=never"`
	// UseFIPSSTSEndpoint picks the FIPS endpoint of STS. Servers from 2.54.0 to
	// 3.0.x, for which others write it, refuse it.
	UseFIPSSTSEndpoint *bool `yaml:"use_fips_sts_endpoint,omitempty" since:"3.1.0,alertmanager=0.29.0"`
}

// SigV4 checks and reads the block; nil stays nil.
func (r *Resolver) SigV4(s *v1.Sigv4) (*SigV4, error) {
	if s == nil {
		return nil, nil
	}
	if (s.AccessKey == nil) != (s.SecretKey == nil) {
		return nil, errors.New("accessKey and secretKey must be set together")
	}
	// A version that does not know external IDs leaves them out.
	if s.ExternalID != "" && s.RoleARN == "" && gate.Need(reflect.TypeFor[SigV4](), "external_id", r.target) == "" {
		return nil, errors.New("externalId needs roleArn")
	}
	access, err := r.Secret(s.AccessKey)
	if err != nil {
		return nil, fmt.Errorf("accessKey: %w", err)
	}
	secret, err := r.Secret(s.SecretKey)
	if err != nil {
		return nil, fmt.Errorf("secretKey: %w", err)
	}
	if access == "" || secret == "" {
		access, secret = "", ""
	}
	return &SigV4{
		Region: s.Region, AccessKey: access, SecretKey: secret, Profile: s.Profile, RoleARN: s.RoleARN,
		ExternalID: s.ExternalID, UseFIPSSTSEndpoint: s.UseFIPSSTSEndpoint,
	}, nil
}
