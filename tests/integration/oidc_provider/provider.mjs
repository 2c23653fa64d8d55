// SPDX-License-Identifier: Apache-2.0
// oidc-provider with the accounts of a test. Argument: JSON with port, client, secret, redirect and people
// (claims by login); any password is right. Its keys are made anew at each start.
import { generateKeyPairSync } from "node:crypto";
import Provider from "oidc-provider";

const given = JSON.parse(process.argv[2]);
const now = Date.now;
Date.now = () => now() - 1000 * (given.slow_s ?? 0); // its clock is slow by so much
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const client = {
  client_id: given.client,
  client_secret: given.secret,
  redirect_uris: [given.redirect],
  response_types: ["code"],
  grant_types: ["authorization_code"],
};
const provider = new Provider(`http://127.0.0.1:${given.port}`, {
  clients: [given.secret ? client : { ...client, token_endpoint_auth_method: "none" }],
  jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256" }] },
  cookies: { keys: ["only a test"] },
  claims: { openid: ["sub"], profile: ["preferred_username", "groups"] },
  conformIdTokenClaims: given.at_userinfo ?? true,
  ttl: { IdToken: 600, AccessToken: 600, AuthorizationCode: 60, Session: 86400, Grant: 86400, Interaction: 86400 },
  findAccount: (_, login) =>
    given.people[login] && { accountId: login, claims: () => ({ sub: login, ...given.people[login] }) },
});
provider.on("server_error", (_, error) => console.error(error));
provider.listen(given.port, "127.0.0.1", () => console.log("ready"));
