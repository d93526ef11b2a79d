"""Two machines for the test of Telegraf: Modbus TCP (pymodbus) and OPC UA (asyncua). Their values change all the time.

Usage: machines.py MODBUS_PORT OPCUA_PORT. Prints "ready" when both listen, and ends with its standard input.
"""

import asyncio
import math
import struct
import sys
import time

from asyncua import Server, ua
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

READ_COILS = 1
REGISTERS = 32
STEP_S = 0.05


async def change_registers(function_code, start_address, _address, _count, current_registers, _set_values):
    """Sets the registers before they are read: counters, and in 0 and 1 a temperature as a 32-bit float."""
    now = time.time()
    if function_code == READ_COILS:
        current_registers[0] = int(now) & 0xFFFF
        return
    steps = int(now / STEP_S)
    values = [*struct.unpack(">HH", struct.pack(">f", 20 + 5 * math.sin(now)))]
    values += [(steps * register) & 0xFFFF for register in range(2, REGISTERS)]
    current_registers[: len(current_registers)] = values[start_address : start_address + len(current_registers)]


async def serve_modbus(port):
    bits = [SimData(0, values=[False] * 16, datatype=DataType.BITS)]
    registers = [SimData(0, count=REGISTERS, values=0, datatype=DataType.REGISTERS)]
    device = SimDevice(id=1, simdata=(bits, bits, registers, registers), action=change_registers)
    server = ModbusTcpServer(device, address=("127.0.0.1", port))
    await server.listen()


async def serve_opcua(port):
    server = Server()
    await server.init()
    server.set_endpoint(f"opc.tcp://127.0.0.1:{port}/millrace")
    server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    space = await server.register_namespace("urn:millrace:test")
    oven = await server.nodes.objects.add_object(space, "Oven")

    async def variable(name, value, kind):
        return await oven.add_variable(ua.NodeId(name, space), name, value, kind)

    temperature = await variable("Temperature", 180.0, ua.VariantType.Double)
    pieces = await variable("Pieces", 0, ua.VariantType.Int64)
    running = await variable("Running", False, ua.VariantType.Boolean)
    program = await variable("Program", "bread", ua.VariantType.String)
    await server.start()

    async def change():
        while True:
            now = time.time()
            await temperature.write_value(180 + 10 * math.sin(now / 3), ua.VariantType.Double)
            await pieces.write_value(int(now / STEP_S), ua.VariantType.Int64)
            await running.write_value(int(now) % 2 == 0, ua.VariantType.Boolean)
            await program.write_value("bread" if int(now) % 10 < 5 else "rolls", ua.VariantType.String)
            await asyncio.sleep(STEP_S)

    return asyncio.create_task(change())


async def main(modbus_port, opcua_port):
    await serve_modbus(modbus_port)
    changing = await serve_opcua(opcua_port)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    changing.cancel()


if __name__ == "__main__":
    asyncio.run(main(*(int(port) for port in sys.argv[1:3])))
