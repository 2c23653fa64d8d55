-- SPDX-License-Identifier: Apache-2.0
-- Wireshark's dissector of the Clarion header, docs/wire-format.md. Put it into the folder "Personal Lua Plugins"
-- (Help, About Wireshark, Folders), or: tshark -X lua_script:observe/wireshark/clarion.lua -r FILE

-- The layout; python -m clarion_contract.generate writes it.
-- contract: header
local PROTOCOL, VERSION = 253, 1
local PREFIX = {
  { name = "next_protocol", at = 0, bits = 8 },
  { name = "length", at = 1, bits = 8 },
  { name = "version", at = 2, bits = 4 },
  { name = "format", at = 2, bits = 4 },
  { name = "flags", at = 3, bits = 8, parts = { { name = "rev_field", bits = 3, mask = 0xe0 }, { name = "regulated", bits = 1, mask = 0x10 }, { name = "hop", bits = 3, mask = 0x0e }, { name = "echo", bits = 1, mask = 0x01 } } },
}
local FORMATS = {
  [1] = { name = "DATA", bytes = 32, fields = {
    { name = "rtt", at = 4, bits = 32, parts = { { name = "rtt", bits = 29, mask = 0xfffffff8 }, { name = "field", bits = 3, mask = 0x00000007 } } },
    { name = "x", at = 8, bits = 32 },
    { name = "delta_throughput", at = 12, bits = 32 },
    { name = "reverse_feedback", at = 16, bits = 32 },
    { name = "bucket", at = 20, bits = 16 },
    { name = "link_seq", at = 22, bits = 16 },
    { name = "corrupt", at = 24, bits = 16 },
    { name = "congest", at = 26, bits = 16 },
    { name = "rev_corrupt", at = 28, bits = 16 },
    { name = "rev_congest", at = 30, bits = 16 },
  } },
  [2] = { name = "ACK", bytes = 12, fields = {
    { name = "reverse_feedback", at = 4, bits = 32 },
    { name = "rev_corrupt", at = 8, bits = 16 },
    { name = "rev_congest", at = 10, bits = 16 },
  } },
  [3] = { name = "TAG", bytes = 16, fields = {
    { name = "bucket", at = 4, bits = 16 },
    { name = "link_seq", at = 6, bits = 16 },
    { name = "corrupt", at = 8, bits = 16 },
    { name = "congest", at = 10, bits = 16 },
    { name = "rev_corrupt", at = 12, bits = 16 },
    { name = "rev_congest", at = 14, bits = 16 },
  } },
}
-- end of contract: header

local Q28 = 2 ^ 28 -- fixed-point seconds, Q4.28

-- Of each field: its title, and what else there is to say.
local TITLES = {
  next_protocol = "Next protocol", length = "Length", version = "Version", format = "Format", flags = "Flags",
  rev_field = "Limiting hop, echoed", regulated = "REGULATED", hop = "Regulating hops", echo = "ECHO",
  rtt = "Round trip time", field = "Limiting hop", x = "Packet size / throughput",
  delta_throughput = "Change of rate, B/s", reverse_feedback = "Sum of changes echoed, B/s", bucket = "Bucket",
  link_seq = "Number on this link", corrupt = "Lost on wires", congest = "Dropped by queues",
  rev_corrupt = "Lost on wires, echoed", rev_congest = "Dropped by queues, echoed",
}
local SECONDS = { rtt = true, x = true } -- their whole word is a time in Q4.28

local clarion = Proto("clarion", "Clarion header")
clarion.prefs.protocol = Pref.uint("IP protocol", PROTOCOL, "Number of the header (RFC 3692)")

local names = {}
for code, format in pairs(FORMATS) do
  names[code] = format.name
end

-- A ProtoField for each field and part, and one in seconds beside those that are times.
local fields = {}
local function add(name, bits, mask, is_flag)
  if fields[name] then
    return
  end
  local abbreviation, title = "clarion." .. name, TITLES[name]
  if is_flag then
    fields[name] = ProtoField.bool(abbreviation, title, bits, nil, mask)
  elseif name == "format" then
    fields[name] = ProtoField.uint8(abbreviation, title, base.DEC, names, mask)
  elseif name == "delta_throughput" then
    fields[name] = ProtoField.int32(abbreviation, title, base.DEC)
  else
    fields[name] = ProtoField["uint" .. bits](abbreviation, title, base.DEC, nil, mask)
  end
end

for _, field in ipairs(PREFIX) do
  local mask = field.bits == 4 and (field.name == "version" and 0xf0 or 0x0f) or nil
  add(field.name, math.max(field.bits, 8), mask)
  for _, part in ipairs(field.parts or {}) do
    add(part.name, field.bits, part.mask, part.bits == 1)
  end
end
for _, format in pairs(FORMATS) do
  for _, field in ipairs(format.fields) do
    local parts = field.parts or {}
    if #parts == 0 then
      add(field.name, field.bits)
    end
    for _, part in ipairs(parts) do
      add(part.name, field.bits, part.mask)
    end
    if SECONDS[field.name] then
      local title = TITLES[field.name] .. ", s"
      fields[field.name .. "_s"] = ProtoField.double("clarion." .. field.name .. "_s", title)
    end
  end
end
clarion.fields = fields

local malformed = ProtoExpert.new("clarion.malformed", "Malformed header", expert.group.MALFORMED, expert.severity.ERROR)
clarion.experts = { malformed }

local function show(tree, buffer, field)
  local bytes = buffer(field.at, math.max(field.bits, 8) / 8)
  if SECONDS[field.name] then
    local low_bits = field.parts and field.bits - field.parts[1].bits or 0
    local word = bytes:uint()
    tree:add(fields[field.name .. "_s"], bytes, (word - word % 2 ^ low_bits) / Q28)
  end
  if not field.parts then
    tree:add(fields[field.name], bytes)
    return
  end
  local below = fields[field.name] and field.name == "flags" and tree:add(fields[field.name], bytes) or tree
  for _, part in ipairs(field.parts) do
    below:add(fields[part.name], bytes)
  end
end

-- Why the header is none: as routers judge it. Nil if it is one.
local function fault(buffer)
  if buffer:len() < 12 then
    return "cut short: " .. buffer:len() .. " bytes, the shortest format has 12"
  end
  local version, code, length = buffer(2, 1):bitfield(0, 4), buffer(2, 1):bitfield(4, 4), buffer(1, 1):uint()
  local format = FORMATS[code]
  if version ~= VERSION then
    return "version " .. version .. ", not " .. VERSION
  elseif not format then
    return "format " .. code .. " is unknown"
  elseif length ~= format.bytes then
    return "length " .. length .. "; format " .. format.name .. " has " .. format.bytes
  elseif buffer:len() < format.bytes then
    return "cut short: " .. buffer:len() .. " of " .. format.bytes .. " bytes"
  end
end

-- What follows the header. Lua cannot hand on the length of what was not captured, from which TCP reckons sequence
-- numbers: zeros stand for it.
local function behind(buffer, at)
  local missing = buffer:reported_len() - buffer:len()
  if missing == 0 then
    return buffer(at):tvb()
  end
  local bytes = buffer(at):bytes()
  bytes:set_size(bytes:len() + missing)
  return bytes:tvb("Behind the Clarion header, zeros where not captured")
end

local ip_protocols = DissectorTable.get("ip.proto")

function clarion.dissector(buffer, pinfo, root)
  local wrong = fault(buffer)
  local format = FORMATS[buffer:len() > 2 and buffer(2, 1):bitfield(4, 4) or 0]
  local tree = root:add(clarion, buffer(0, wrong and buffer:len() or format.bytes))
  if wrong then
    pinfo.cols.protocol = "Clarion"
    pinfo.cols.info = "Malformed Clarion header: " .. wrong
    tree:add_proto_expert_info(malformed, wrong)
    return buffer:len()
  end
  tree:append_text(", " .. format.name)
  for _, field in ipairs(PREFIX) do
    show(tree, buffer, field)
  end
  for _, field in ipairs(format.fields) do
    show(tree, buffer, field)
  end
  if buffer:len() > format.bytes then
    local protocol, rest = buffer(0, 1):uint(), behind(buffer, format.bytes)
    if not pcall(ip_protocols.try, ip_protocols, protocol, rest, pinfo, root) then
      tree:add_proto_expert_info(malformed, "what follows the header is malformed")
    end
  end
  pinfo.cols.info:prepend("[" .. format.name .. "] ")
  return buffer:len()
end

local registered
local function register()
  if registered then
    ip_protocols:remove(registered, clarion)
  end
  registered = clarion.prefs.protocol
  ip_protocols:add(registered, clarion)
end
clarion.prefs_changed = register
register()
