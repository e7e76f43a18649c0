package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// RocketChatConfig posts a message to Rocket.Chat, with one attachment that has the alerts (since Alertmanager
// 0.28.0; an older one rejects the object).
type RocketChatConfig struct {
	// Buttons below the attachment.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=atomic
	// +optional
	Actions []RocketChatActionConfig `json:"actions,omitempty"`

	// URL of the server, http or https with a host. Empty means the global one, `https://open.rocket.chat/` by
	// default.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// Channel (`#name`) or user (`@name`) to post to; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Channel string `json:"channel,omitempty"`

	// Color of the bar next to the attachment, a name of CSS or `#rrggbb`; it may be a template. Empty means red
	// while an alert fires, else green.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Color string `json:"color,omitempty"`

	// Emoji to use as avatar, such as `:fire:`; it may be a template. It wins over `iconURL`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Emoji string `json:"emoji,omitempty"`

	// Table of names and values below the text.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=atomic
	// +optional
	Fields []RocketChatFieldConfig `json:"fields,omitempty"`

	// Settings of the HTTP client. Unset means the global `httpConfig` of the Alertmanager.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// URL of an image to use as avatar, http or https with a host; it may be a template.
	//
	// +optional
	IconURL *string `json:"iconURL,omitempty"`

	// URL of an image to show in the attachment, http or https with a host; it may be a template.
	//
	// +optional
	ImageURL *string `json:"imageURL,omitempty"`

	// Whether names of users and channels in the text become links. Unset means false.
	//
	// +optional
	LinkNames *bool `json:"linkNames,omitempty"`

	// Whether a notification is sent when alerts are resolved. Unset means false.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// Whether fields that do not say so themselves fit next to each other. Unset means false.
	//
	// +optional
	ShortFields *bool `json:"shortFields,omitempty"`

	// Text of the attachment; it may be a template. Empty means the template `rocketchat.default.text`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Text string `json:"text,omitempty"`

	// URL of a small image to show in the attachment, http or https with a host; it may be a template.
	//
	// +optional
	ThumbURL *string `json:"thumbURL,omitempty"`

	// Title of the attachment; it may be a template. Empty means the template `rocketchat.default.title`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`

	// URL the title links to; it may be a template. Empty means the template `rocketchat.default.titlelink`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TitleLink string `json:"titleLink,omitempty"`

	// Secret key with the personal access token of the sender. A missing key rejects the object.
	//
	// +required
	Token corev1.SecretKeySelector `json:"token"`

	// Secret key with the user ID that belongs to the token. A missing key rejects the object.
	//
	// +required
	TokenID corev1.SecretKeySelector `json:"tokenID"`
}

// RocketChatActionConfig is a button below a message.
type RocketChatActionConfig struct {
	// Message that is posted when the button is used; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Msg string `json:"msg,omitempty"`

	// Text of the button; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Text string `json:"text,omitempty"`

	// URL the button opens, http or https with a host; it may be a template.
	//
	// +optional
	URL *string `json:"url,omitempty"`
}

// RocketChatFieldConfig is a row of the table below a message.
type RocketChatFieldConfig struct {
	// Whether the row is short enough for two to fit next to each other. Unset leaves it to `shortFields`.
	//
	// +optional
	Short *bool `json:"short,omitempty"`

	// Name of the row; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`

	// Value of the row; it may be a template.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Value string `json:"value,omitempty"`
}
