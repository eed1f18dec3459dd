package pages

import "net/url"

// noticeCookie carries a sentence about what was done to the page that follows a redirect.
const noticeCookie = "pdpp_notice"

// setNotice makes the next page show a sentence.
func (v *visit) setNotice(text string) { v.setCookie(noticeCookie, url.QueryEscape(text), 60) }

// takeNotice returns the sentence of the last request, once.
func (v *visit) takeNotice() string {
	cookie, err := v.r.Cookie(v.cookieName(noticeCookie))
	if err != nil {
		return ""
	}
	v.setCookie(noticeCookie, "", -1)
	text, err := url.QueryUnescape(cookie.Value)
	if err != nil {
		return ""
	}
	return clean(text, textLength)
}
