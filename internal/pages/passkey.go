package pages

import "encoding/json"

// The requests of static/passkey.js. They are forms with the response of the authenticator
// in one field, so that they have the protection of every other form.

func passkeyLoginBegin(v *visit) error {
	options, err := v.pages.SignIn.BeginLogin(v.r.Context(), v.base, v.secret, v.visitor())
	return v.answerJSON(options, err)
}

func passkeyLoginFinish(v *visit) error {
	cookie, failures, err := v.pages.SignIn.FinishLogin(v.r.Context(), v.base, v.secret, []byte(v.r.PostForm.Get("response")), v.visitor())
	if err != nil {
		return v.answerJSON(nil, err)
	}
	v.noticeFailures(failures)
	if err := v.startSession(cookie); err != nil {
		return err
	}
	return v.answerNext(safeReturn(v.value("return_to")))
}

func passkeyAddBegin(v *visit) error {
	options, err := v.pages.SignIn.BeginRegistration(v.r.Context(), v.base, v.secret, v.r.PostForm.Get("password"), v.visitor())
	return v.answerJSON(options, err)
}

func passkeyAddFinish(v *visit) error {
	_, err := v.pages.SignIn.FinishRegistration(v.r.Context(), v.base, v.secret, v.value("name"), []byte(v.r.PostForm.Get("response")))
	if err != nil {
		return v.answerJSON(nil, err)
	}
	v.setNotice("The passkey was added. You can sign in with it from now on.")
	return v.answerNext("/owner/security")
}

// answerNext tells the script where to continue.
func (v *visit) answerNext(target string) error {
	body, err := json.Marshal(map[string]string{"next": target})
	return v.answerJSON(body, err)
}

// answerJSON answers a script. Errors have the usual envelope: the script shows their
// message.
func (v *visit) answerJSON(body []byte, err error) error {
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/json")
	_, err = v.w.Write(body)
	return err
}
