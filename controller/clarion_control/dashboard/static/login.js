// SPDX-License-Identifier: Apache-2.0
// A one-time sign-in link carries its code behind the #, which browsers never send. It goes off the address
// bar and out of the history before it is used.
const code = new URLSearchParams(location.hash.slice(1)).get("code");
if (code) {
  history.replaceState(null, "", location.pathname + location.search);
  const form = document.querySelector("form");
  form.elements.code.value = code;
  form.submit();
}
