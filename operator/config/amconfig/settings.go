package amconfig

import (
	"encoding/json"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Settings are the settings of an Alertmanager that affect the selected AlertmanagerConfigs.
// They are immutable.
type Settings struct {
	data settingsData
	// target is the Alertmanager that reads the file.
	target gate.Target
	key    string
	// trial is the base with which AlertmanagerConfigs are tried.
	trial Frame
}

// settingsData contains everything that a fragment depends on besides its object and its references.
type settingsData struct {
	Version   string
	Namespace string // of the Alertmanager; empty if no fragment depends on it
	Strategy  v1.AlertmanagerConfigMatcherStrategyType
	Labels    dialect
	Globals   Globals
}

// Globals describes which settings receivers may omit because the base provides them.
type Globals struct {
	SMTPFrom, SMTPSmarthost                  bool
	SlackURL, SlackAppToken                  bool
	OpsGenieKey, VictorOpsKey                bool
	WeChatSecret, WeChatCorpID               bool
	TelegramToken, MattermostURL             bool
	RocketChatToken, RocketChatTokenID, Jira bool

	// HTTPAuthorization means that global.http_config has an authorization, which excludes a Slack app token.
	HTTPAuthorization bool
	// Taken lists the names of receivers and time intervals in the base that may conflict
	// with those of an AlertmanagerConfig, one per line, sorted.
	Taken string
}

// AnyGlobals is used until a valid base is known, so that errors in the base are not
// attributed to AlertmanagerConfigs.
var AnyGlobals = Globals{
	SMTPFrom: true, SMTPSmarthost: true,
	SlackURL: true, SlackAppToken: true,
	OpsGenieKey: true, VictorOpsKey: true,
	WeChatSecret: true, WeChatCorpID: true,
	TelegramToken: true, MattermostURL: true,
	RocketChatToken: true, RocketChatTokenID: true, Jira: true,
}

// NewSettings returns the settings of am, whose program has the given version.
func NewSettings(am *v1.Alertmanager, version *semver.Version, globals Globals) *Settings {
	target := targetOf(version)
	s := &Settings{target: target, data: settingsData{
		Version: version.String(), Labels: dialectOf(am, target),
		Strategy: am.MatcherStrategy(), Globals: globals,
	}}
	if s.data.Strategy == v1.OnNamespaceExceptForAlertmanagerNamespaceConfigMatcherStrategyType {
		s.data.Namespace = am.Namespace
	}
	s.trial = trialFrame(globals)
	key, err := json.Marshal(s.data)
	if err != nil {
		panic(err) // strings and booleans only
	}
	s.key = string(key)
	return s
}

// targetOf returns the target for a version of Alertmanager.
func targetOf(version *semver.Version) gate.Target {
	return gate.Target{Program: gate.Alertmanager, Version: version}
}

// Key returns an identifier of the settings: with equal keys, every AlertmanagerConfig compiles to the same fragment.
func (s *Settings) Key() string { return s.key }
