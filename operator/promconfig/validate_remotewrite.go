package promconfig

import (
	"fmt"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// checkRemoteWrite applies the rules that need no look at the cluster.
func checkRemoteWrite(s *v1.RemoteWriteSpec, rules relabelRules) error {
	t := rules.target
	if err := atMostOne([]way{
		{"basicAuth", s.BasicAuth != nil}, {"oauth2", s.OAuth2 != nil}, {"authorization", s.Authorization != nil},
		{"sigv4", s.Sigv4 != nil}, {"azureAd", s.AzureAD != nil},
		{"bearerToken", s.BearerToken != ""}, {"bearerTokenFile", s.BearerTokenFile != ""},
	}); err != nil {
		return err
	}
	if err := rules.check(s.WriteRelabelConfigs); err != nil {
		return fmt.Errorf("writeRelabelConfigs: %w", err)
	}
	if err := checkQueue(s.QueueConfig, t); err != nil {
		return fmt.Errorf("queueConfig: %w", err)
	}
	if err := checkSigV4(s.Sigv4, t); err != nil {
		return fmt.Errorf("sigv4: %w", err)
	}
	if err := checkAzureAD(s.AzureAD, t); err != nil {
		return fmt.Errorf("azureAd: %w", err)
	}
	return checkProxy(s.ProxyConfig)
}
