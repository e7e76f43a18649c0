package promconfig

import (
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// checkRemoteWrite checks everything except the HTTP client blocks, which are checked
// when they are resolved.
func checkRemoteWrite(s *v1.RemoteWriteSpec, rules relabelRules) error {
	if err := clientconfig.AtMostOne(
		way("basicAuth", s.BasicAuth != nil), way("oauth2", s.OAuth2 != nil), way("authorization", s.Authorization != nil),
		way("sigv4", s.Sigv4 != nil), way("azureAd", s.AzureAD != nil),
		way("bearerToken", s.BearerToken != ""), way("bearerTokenFile", s.BearerTokenFile != ""),
	); err != nil {
		return err
	}
	if err := checkHeaders(s.Headers); err != nil {
		return err
	}
	if err := rules.check(s.WriteRelabelConfigs); err != nil {
		return faults.At("writeRelabelConfigs", err)
	}
	if err := checkQueue(s.QueueConfig, rules.target); err != nil {
		return faults.At("queueConfig", err)
	}
	return nil
}
