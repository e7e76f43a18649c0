package clientconfig

import (
	"errors"
	"reflect"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// SigV4 is a sigv4 block for AWS request signing.
type SigV4 struct {
	// Region is the AWS region; empty for the SDK's default.
	Region string `yaml:"region,omitempty"`
	// AccessKey is read from a Secret.
	AccessKey string `yaml:"access_key,omitempty"`
	// SecretKey is read from a Secret.
	SecretKey string `yaml:"secret_key,omitempty"`
	// Profile is a profile of the AWS configuration file.
	Profile string `yaml:"profile,omitempty"`
	// RoleARN is the ARN of the role to assume.
	RoleARN string `yaml:"role_arn,omitempty"`
	// ExternalID is used to assume the role.
	ExternalID string `yaml:"external_id,omitempty" since:"3.11.0,alertmanager=0.31.0,thanos=never"`
	// UseFIPSSTSEndpoint selects the FIPS endpoint of STS. Versions from 2.54.0 to 3.0.x
	// reject the key, although other operators write it for them.
	UseFIPSSTSEndpoint *bool `yaml:"use_fips_sts_endpoint,omitempty" since:"3.1.0,alertmanager=0.29.0,thanos=0.38.0"`
}

// SigV4 validates and resolves the block; nil stays nil.
func (r *Resolver) SigV4(s *v1.Sigv4) (*SigV4, error) {
	if s == nil {
		return nil, nil
	}
	if (s.AccessKey == nil) != (s.SecretKey == nil) {
		return nil, errors.New("accessKey and secretKey must be set together")
	}
	// For versions that do not support external IDs, the key is omitted.
	if s.ExternalID != "" && s.RoleARN == "" && gate.Need(reflect.TypeFor[SigV4](), "external_id", r.target) == "" {
		return nil, errors.New("externalId needs roleArn")
	}
	access, err := r.Secret(s.AccessKey)
	if err != nil {
		return nil, faults.At("accessKey", err)
	}
	secret, err := r.Secret(s.SecretKey)
	if err != nil {
		return nil, faults.At("secretKey", err)
	}
	if access == "" || secret == "" {
		access, secret = "", ""
	}
	return &SigV4{
		Region: s.Region, AccessKey: access, SecretKey: secret, Profile: s.Profile, RoleARN: s.RoleARN,
		ExternalID: s.ExternalID, UseFIPSSTSEndpoint: s.UseFIPSSTSEndpoint,
	}, nil
}
