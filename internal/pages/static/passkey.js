// Passkeys: the only part of the pages that needs a script, because browsers offer them to
// scripts alone. Every request is a form with the token of the page.
"use strict";

const section = document.getElementById("passkey");
const csrf = document.querySelector("input[name=_csrf]");

if (section && csrf && window.PublicKeyCredential && PublicKeyCredential.parseCreationOptionsFromJSON) {
  section.hidden = false;
  const add = document.getElementById("passkey-add");
  const login = document.getElementById("passkey-login");
  if (add) add.addEventListener("click", () => run(register));
  if (login) login.addEventListener("click", () => run(signIn));
}

async function run(action) {
  const error = document.getElementById("passkey-error");
  error.textContent = "";
  try {
    await action();
  } catch (e) {
    error.textContent = e.name === "NotAllowedError" ? "It was canceled, or took too long. Try again." : e.message;
  }
}

async function register() {
  const password = document.getElementById("passkey-password");
  const options = await post("/owner/passkey/add/begin", { password: password ? password.value : "" });
  const credential = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options.publicKey) });
  const name = document.getElementById("passkey-name").value;
  const done = await post("/owner/passkey/add/finish", { name, response: JSON.stringify(credential.toJSON()) });
  location.assign(done.next);
}

async function signIn() {
  const options = await post("/owner/passkey/login/begin", {});
  const credential = await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options.publicKey) });
  const returnTo = document.querySelector("input[name=return_to]").value;
  const done = await post("/owner/passkey/login/finish", { return_to: returnTo, response: JSON.stringify(credential.toJSON()) });
  location.assign(done.next);
}

async function post(path, fields) {
  const response = await fetch(path, { method: "POST", body: new URLSearchParams({ ...fields, _csrf: csrf.value }), headers: { Accept: "application/json" } });
  const body = await response.json();
  if (!response.ok) throw new Error(body.error ? body.error.message : "That did not work. Try again.");
  return body;
}
